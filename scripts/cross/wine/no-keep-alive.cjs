// Preloaded into each Node.js under Wine 8, which refuses the option of sockets for the delay of keep-alive: every connection of
// undici failed. Connections of tests are short.
process.binding('tcp_wrap').TCP.prototype.setKeepAlive = () => 0;
