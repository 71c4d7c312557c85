"""From a configuration to a measured cell; with the commands the only rooms that know Hydra and start an event loop."""
