/** `lorekeep/client` in a page: the same client over WebSocket. It starts no servers. */
export { ClientAgent } from './agent.js';
export { ConnectionLostError } from './channel.js';
export { Client, connect } from './client.js';
export { ServerError } from './server-error.js';
export { ClientSession } from './session.js';
export { ClientSpeech } from './speech.js';
