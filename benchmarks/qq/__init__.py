"""Messages through a real OneBot websocket, beside a bare echo matcher of NoneBot's."""
