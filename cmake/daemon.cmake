# cuzk-daemon and the parts that only it needs: engine, store, server.
