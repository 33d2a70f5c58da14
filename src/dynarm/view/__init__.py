"""The 3D page: a robot in a browser, drawn from its own frames, moved by sliders or by a recording."""
