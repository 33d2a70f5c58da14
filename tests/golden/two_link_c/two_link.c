#include "two_link.h"

#include <math.h>
#include <float.h>

#if DBL_MANT_DIG < 53
#error "double has fewer than 53 bits here; export with single=True"
#endif

/* Where this array has no size, constants are not double: leave out -fsingle-precision-constant. */
typedef char two_link_double_constants[(sizeof(1.0) == sizeof(double)) ? 1 : -1];

static void two_link_sincos(double x, double *s, double *c)
{
    if (x > -1.0e5 && x < 1.0e5) {
        /* x = k pi/2 + r, |r| <= pi/4, pi/2 in three parts; then two minimax polynomials in r^2.
           y is exact, and volatile so that fast-math cannot merge the parts. */
        const long n = (long)(x * 0.6366197723675814 + 65536.5);
        const double k = (double)(n - 65536L);
        const volatile double y = x - k * 0x1.921fb544p+0;
        const double r = (y - k * 6.077100506303966e-11) - k * 2.0222662487959506e-21;
        const double z = r * r;
        const double sine = r + (r * z) * (-1.6666666666666632e-1 + z * (8.33333333332249e-3
            + z * (-1.984126982985795e-4 + z * (2.755731370707007e-6 + z * (-2.5050760253406863e-8
            + z * 1.58969099521155e-10)))));
        const double cosine = (1.0 - 0.5 * z) + (z * z) * (4.16666666666666e-2 + z * (-1.3888888888874110e-3
            + z * (2.480158728947673e-5 + z * (-2.7557314351390663e-7 + z * (2.087572321298175e-9
            + z * -1.1359647557788195e-11)))));
        const double a = ((n & 1L) != 0) ? cosine : sine;
        const double b = ((n & 1L) != 0) ? sine : cosine;
        *s = ((n & 2L) != 0) ? -a : a;
        *c = (((n + 1L) & 2L) != 0) ? -b : b;
    } else {
        /* volatile: the library, never an instruction that knows pi to 66 bits only */
        double (*volatile sine)(double) = sin;
        double (*volatile cosine)(double) = cos;
        *s = sine(x);
        *c = cosine(x);
    }
}

static double two_link_sin(double x)
{
    double s, c;
    two_link_sincos(x, &s, &c);
    return s;
}

static double two_link_cos(double x)
{
    double s, c;
    two_link_sincos(x, &s, &c);
    return c;
}

void two_link_inverse_dynamics(
    const double q[restrict 2],
    const double qd[restrict 2],
    const double qdd[restrict 2],
    double tau[restrict 2])
{
    double v7;
    double v6;
    two_link_sincos(q[0], &v7, &v6);
    double v9;
    double v8;
    two_link_sincos(q[1], &v9, &v8);
    const double v11 = v6 * 9.81;
    const double v14 = v7 * 9.81;
    const double v15 = qd[0] * qd[0];
    const double v16 = v14 - v15;
    const double v17 = qdd[0] + v11;
    const double v18 = v9 * v16;
    const double v19 = v8 * v17;
    const double v20 = v18 - v19;
    const double v21 = qd[0] + qd[1];
    const double v22 = qdd[0] + qdd[1];
    const double v25 = v20 * 1.2000000000000002;
    const double v26 = v22 * 0.6425000000000001;
    const double v27 = v25 - v26;
    const double v28 = v9 * v21;
    const double v29 = v21 * v28;
    const double v30 = v8 * v22;
    const double v31 = v29 - v30;
    const double v32 = 1.2000000000000002 * v31;
    const double v33 = v11 * 5.0;
    const double v34 = qdd[0] * 4.336666666666667;
    const double v35 = v33 + v34;
    const double v36 = v27 - v35;
    const double v37 = v32 + v36;
    tau[0] = -v37;
    tau[1] = -v27;
}

void two_link_forward_dynamics(
    const double q[restrict 2],
    const double qd[restrict 2],
    const double tau[restrict 2],
    double qdd[restrict 2])
{
    double v7;
    double v6;
    two_link_sincos(q[0], &v7, &v6);
    double v9;
    double v8;
    two_link_sincos(q[1], &v9, &v8);
    const double v11 = v8 * 1.2000000000000002;
    const double v14 = v11 * 2.0;
    const double v15 = 0.6425000000000001 + v14;
    const double v18 = v15 + 4.336666666666667;
    const double v19 = v11 + 0.6425000000000001;
    const double v21 = 1.0 / v18;
    const double v22 = v19 * v21;
    const double v23 = v19 * v22;
    const double v24 = 0.6425000000000001 - v23;
    const double v25 = 1.0 / v24;
    const double v27 = v7 * 9.81;
    const double v28 = v6 * 9.81;
    const double v29 = qd[0] * qd[0];
    const double v30 = 5.0 * v28;
    const double v31 = v27 - v29;
    const double v32 = v9 * v31;
    const double v33 = v8 * v28;
    const double v34 = v32 - v33;
    const double v35 = qd[0] + qd[1];
    const double v36 = v35 * v35;
    const double v37 = 1.2000000000000002 * v36;
    const double v38 = 1.2000000000000002 * v34;
    const double v39 = v9 * v37;
    const double v40 = v38 + v39;
    const double v41 = v30 - v40;
    const double v42 = tau[0] - v41;
    const double v43 = tau[1] + v38;
    const double v44 = v22 * v42;
    const double v45 = v43 - v44;
    const double v46 = v21 * v42;
    const double v47 = v25 * v45;
    const double v48 = v22 * v47;
    const double v49 = v46 - v48;
    qdd[0] = v49;
    qdd[1] = v47;
}

void two_link_mass_matrix(
    const double q[restrict 2],
    double M[restrict 4])
{
    const double v1 = two_link_cos(q[1]);
    const double v3 = v1 * 1.2000000000000002;
    const double v6 = v3 * 2.0;
    const double v7 = 0.6425000000000001 + v6;
    const double v9 = v7 + 4.336666666666667;
    const double v10 = v3 + 0.6425000000000001;
    M[0] = v9;
    M[1] = v10;
    M[2] = v10;
    M[3] = 0.6425000000000001;
}

void two_link_bias(
    const double q[restrict 2],
    const double qd[restrict 2],
    double b[restrict 2])
{
    double v5;
    double v4;
    two_link_sincos(q[0], &v5, &v4);
    double v7;
    double v6;
    two_link_sincos(q[1], &v7, &v6);
    const double v9 = v5 * 9.81;
    const double v10 = v4 * 9.81;
    const double v11 = qd[0] * qd[0];
    const double v13 = v10 * 5.0;
    const double v14 = v9 - v11;
    const double v15 = v7 * v14;
    const double v16 = v6 * v10;
    const double v17 = v15 - v16;
    const double v18 = qd[0] + qd[1];
    const double v19 = v18 * v18;
    const double v21 = v19 * 1.2000000000000002;
    const double v22 = v17 * 1.2000000000000002;
    const double v23 = v7 * v21;
    const double v24 = v22 + v23;
    const double v25 = v13 - v24;
    b[0] = v25;
    b[1] = -v22;
}

void two_link_gravity(
    const double q[restrict 2],
    double g[restrict 2])
{
    double v3;
    double v2;
    two_link_sincos(q[0], &v3, &v2);
    double v5;
    double v4;
    two_link_sincos(q[1], &v5, &v4);
    const double v7 = v3 * 9.81;
    const double v8 = v2 * 9.81;
    const double v10 = v8 * 5.0;
    const double v11 = v5 * v7;
    const double v12 = v4 * v8;
    const double v13 = v11 - v12;
    const double v15 = v13 * 1.2000000000000002;
    const double v16 = v10 - v15;
    g[0] = v16;
    g[1] = -v15;
}

void two_link_coriolis_matrix(
    const double q[restrict 2],
    const double qd[restrict 2],
    double C[restrict 4])
{
    const double v3 = two_link_sin(q[1]);
    const double v4 = qd[0] + qd[1];
    const double v6 = v4 * 2.4000000000000004;
    const double v7 = v3 * v6;
    const double v8 = v3 * 2.4000000000000004;
    const double v9 = qd[0] * v8;
    const double v10 = v7 - v9;
    const double v12 = v10 * 0.5;
    const double v13 = v7 * 0.5;
    const double v14 = v9 * 0.5;
    C[0] = -v12;
    C[1] = -v13;
    C[2] = v14;
    C[3] = 0.0;
}

void two_link_mass_matrix_and_bias(
    const double q[restrict 2],
    const double qd[restrict 2],
    double M[restrict 4],
    double b[restrict 2])
{
    double v5;
    double v4;
    two_link_sincos(q[0], &v5, &v4);
    double v7;
    double v6;
    two_link_sincos(q[1], &v7, &v6);
    const double v9 = v6 * 1.2000000000000002;
    const double v12 = v9 * 2.0;
    const double v13 = 0.6425000000000001 + v12;
    const double v16 = v13 + 4.336666666666667;
    const double v17 = v9 + 0.6425000000000001;
    const double v19 = v5 * 9.81;
    const double v20 = v4 * 9.81;
    const double v21 = qd[0] * qd[0];
    const double v22 = 5.0 * v20;
    const double v23 = v19 - v21;
    const double v24 = v7 * v23;
    const double v25 = v6 * v20;
    const double v26 = v24 - v25;
    const double v27 = qd[0] + qd[1];
    const double v28 = v27 * v27;
    const double v29 = 1.2000000000000002 * v28;
    const double v30 = 1.2000000000000002 * v26;
    const double v31 = v7 * v29;
    const double v32 = v30 + v31;
    const double v33 = v22 - v32;
    M[0] = v16;
    M[1] = v17;
    M[2] = v17;
    M[3] = 0.6425000000000001;
    b[0] = v33;
    b[1] = -v30;
}

void two_link_kinetic_energy(
    const double q[restrict 2],
    const double qd[restrict 2],
    double T[restrict 1])
{
    double v4;
    double v3;
    two_link_sincos(q[1], &v4, &v3);
    const double v5 = qd[0] * v4;
    const double v6 = qd[0] * v3;
    const double v7 = qd[0] + qd[1];
    const double v10 = v5 * v5;
    const double v11 = v6 * v6;
    const double v12 = v10 + v11;
    const double v15 = v12 * 3.0;
    const double v16 = v7 * 0.6425000000000001;
    const double v17 = v7 * v16;
    const double v18 = v15 + v17;
    const double v20 = qd[0] * 1.3366666666666667;
    const double v21 = qd[0] * v20;
    const double v22 = v18 + v21;
    const double v23 = 0.5 * v22;
    const double v24 = v6 * 1.2000000000000002;
    const double v25 = v7 * v24;
    const double v26 = v23 + v25;
    T[0] = v26;
}

void two_link_potential_energy(
    const double q[restrict 2],
    double U[restrict 1])
{
    double v3;
    double v2;
    two_link_sincos(q[0], &v3, &v2);
    double v5;
    double v4;
    two_link_sincos(q[1], &v5, &v4);
    const double v6 = v2 * v5;
    const double v7 = v3 * v4;
    const double v8 = v6 + v7;
    const double v11 = v3 * 5.0;
    const double v12 = v8 * 1.2000000000000002;
    const double v13 = v11 + v12;
    const double v15 = v13 * 9.81;
    U[0] = v15;
}

void two_link_forward_kinematics(
    const double q[restrict 2],
    double T[restrict 16])
{
    double v3;
    double v2;
    two_link_sincos(q[0], &v3, &v2);
    double v5;
    double v4;
    two_link_sincos(q[1], &v5, &v4);
    const double v6 = v2 * v4;
    const double v7 = v3 * v5;
    const double v8 = v6 - v7;
    const double v9 = v2 * v5;
    const double v10 = v3 * v4;
    const double v11 = v9 + v10;
    const double v13 = v8 * 0.8;
    const double v14 = v11 * 0.8;
    const double v15 = v2 + v13;
    const double v16 = v3 + v14;
    T[0] = v8;
    T[1] = -v11;
    T[2] = 0.0;
    T[3] = v15;
    T[4] = 0.0;
    T[5] = 0.0;
    T[6] = -1.0;
    T[7] = 0.0;
    T[8] = v11;
    T[9] = v8;
    T[10] = 0.0;
    T[11] = v16;
    T[12] = 0.0;
    T[13] = 0.0;
    T[14] = 0.0;
    T[15] = 1.0;
}

void two_link_jacobian(
    const double q[restrict 2],
    double J[restrict 12])
{
    double v3;
    double v2;
    two_link_sincos(q[0], &v3, &v2);
    double v5;
    double v4;
    two_link_sincos(q[1], &v5, &v4);
    const double v6 = v2 * v4;
    const double v7 = v3 * v5;
    const double v8 = v6 - v7;
    const double v9 = v2 * v5;
    const double v10 = v3 * v4;
    const double v11 = v9 + v10;
    const double v13 = v8 * 0.8;
    const double v14 = v11 * 0.8;
    const double v15 = v2 + v13;
    const double v16 = v3 + v14;
    const double v17 = v2 - v15;
    const double v18 = v3 - v16;
    J[0] = -v16;
    J[1] = v18;
    J[2] = 0.0;
    J[3] = 0.0;
    J[4] = v15;
    J[5] = -v17;
    J[6] = 0.0;
    J[7] = 0.0;
    J[8] = -1.0;
    J[9] = -1.0;
    J[10] = 0.0;
    J[11] = 0.0;
}
