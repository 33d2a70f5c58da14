"""What scikit-learn asks of an estimator: parameters by name, and a state that `score` and `predict` use.

scikit-learn itself is imported only where it calls; nothing here needs it. `fit` of an Identifier returns the Fit, not
the estimator: clone, GridSearchCV, cross_val_score and Pipeline do not look at what it returns.
"""

from __future__ import annotations

from dataclasses import FrozenInstanceError, fields, replace
from typing import TYPE_CHECKING, Self

from ..border.kinds import FloatArray, Foreign, Json, Outside
from ..errors import InputError
from .logs.sources import is_one, logs_of

if TYPE_CHECKING:
    from .position.result import PositionFit
    from .result import Fit


class NotFitted(InputError, AttributeError):
    """An identifier that was asked for what only a fit has."""


class Searchable:
    """get_params, set_params, predict and score of a record with a method `fit`.

    The record is frozen but for names that begin with an underscore: scikit-learn leaves notes of its own there.
    """

    def __setattr__(self, name: str, value: Outside) -> None:
        if not name.startswith("_") and name in self.__dict__:
            raise FrozenInstanceError(
                f"cannot assign to '{name}'; use set_params({name}=...), or dataclasses.replace"
            )
        object.__setattr__(self, name, value)

    def get_params(self, deep: bool = True) -> Json:
        """All options by name, as scikit-learn asks for them.

        Parameters
        ----------
        deep : bool, default True
            There for scikit-learn; no option is an estimator itself.

        Returns
        -------
        dict
            The options.

        Examples
        --------
        >>> search.get_params()["estimator"]
        'wls'
        """
        return {f.name: getattr(self, f.name) for f in fields(self)}  # type: ignore[arg-type]

    def set_params(self, **options: Outside) -> Self:
        """This very identifier with other options, as scikit-learn wants it; its fit is forgotten.

        It is the one method that changes an identifier; dataclasses.replace makes another instead.

        Parameters
        ----------
        **options : object
            Options of the identifier.

        Returns
        -------
        Self
            This identifier.

        Examples
        --------
        >>> search.set_params(estimator="ols").estimator
        'ols'
        """
        known = self.get_params()
        for name in options:
            if name not in known:
                raise InputError(f"no option '{name}'; choose among {', '.join(known)}")
        checked: Outside = replace(self, **options)  # type: ignore[type-var]
        for name in known:
            object.__setattr__(self, name, getattr(checked, name))
        self.__dict__.pop("fit_", None)
        return self

    def _fitted(self) -> Fit | PositionFit:
        if not self.__sklearn_is_fitted__():
            raise NotFitted("this identifier has not been fitted; call fit(log) first")
        done: Fit | PositionFit = self.__dict__["fit_"]
        return done

    def predict(self, log: Outside) -> FloatArray | list[FloatArray]:
        """Torques, with pd positions, (N, n) that the last fit predicts for a log; of several logs a list.

        Parameters
        ----------
        log : Log, path or DataFrame
            The log; several are a list of them.

        Returns
        -------
        ndarray or list of ndarray
            Torques (N, n), or with pd positions.

        Examples
        --------
        >>> fit = search.fit(log)
        >>> search.predict(log).shape
        (1001, 2)
        """
        done = self._fitted()
        if is_one(log):
            return done.predict(log)
        return [done.predict(one) for one in logs_of(log, self.get_params()["arm"])]

    def score(self, log: Outside, y: Outside = None) -> float:
        """Fit.score of the last fit: 1 is a perfect prediction, 0 as good as the mean torque.

        Parameters
        ----------
        log : Log, path or DataFrame
            The log; several are a list of them.
        y : None
            Not used; scikit-learn passes it.

        Returns
        -------
        float
            At most 1.

        Examples
        --------
        >>> fit = search.fit(log)
        >>> search.score(log) > 0.99
        True
        """
        return self._fitted().score(log)

    def __sklearn_is_fitted__(self) -> bool:
        return "fit_" in self.__dict__

    def __sklearn_tags__(self) -> Foreign:
        from sklearn.utils import Tags, TargetTags

        return Tags(estimator_type="regressor", target_tags=TargetTags(required=False))
