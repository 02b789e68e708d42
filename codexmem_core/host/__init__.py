"""The only folder that hosts ever touch: spooled events and ready payloads."""
