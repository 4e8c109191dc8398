"""bsuite's analysis of an agent: scores by experiment and by tag, and the radar plot. Imports no JAX.

    results = load_results("logs/dqn")  # a folder with one agent's logs
    scores = score(results)
    figure = plot_radar({"dqn": score_by_tag(scores)})

Requires pandas and matplotlib, which the extra `envcore-bsuite[analysis]` installs.
"""

from envcore.suggestions import how_to_install

try:
    from envcore_bsuite.analysis.radar import plot_radar
    from envcore_bsuite.analysis.results import load_results
    from envcore_bsuite.analysis.scores import score, score_by_tag
except ModuleNotFoundError as error:
    library = (error.name or "").partition(".")[0]
    if library not in ("matplotlib", "pandas"):
        raise
    message = f"envcore_bsuite.analysis needs {library}: {how_to_install('envcore-bsuite[analysis]')}"
    raise ModuleNotFoundError(message, name=error.name) from error

__all__ = ["load_results", "plot_radar", "score", "score_by_tag"]
