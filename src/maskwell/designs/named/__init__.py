"""The named designs: functions that return a design of some kind, each with its references and examples."""
