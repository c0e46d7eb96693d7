"""Other ways to write a definition -> the JSON value of Maestro's model, once, before it is decoded.

    maestro_yaml   `workflow: {jobs: ...}`              Maestro's YAML DSL
    task_engine    `workflows: {jobs, definitions}`     the task engine's YAML
    convenience    short and documented-elsewhere forms of steps and parameters
    outcomes       `on_success`, `on_failure`
    stages         `stages`

All of them keep the spots of what they read, so that a problem is shown where the author wrote it.
"""
