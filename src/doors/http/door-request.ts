import { IncomingMessage } from 'node:http';

/**
 * A request of the doors. Of the upgrades that clients offer only WebSocket is taken: the client of Java offers HTTP/2 with each of
 * its requests, which are served as they are.
 */
export class DoorRequest extends IncomingMessage {
  /** Undefined while the base class is being constructed. */
  declare offersUpgrade: boolean | undefined;

  get upgrade(): boolean {
    return this.offersUpgrade === true && this.headers.upgrade?.toLowerCase() === 'websocket';
  }

  /** Node.js sets it before and after it has read the headers. */
  set upgrade(offered: boolean | null) {
    this.offersUpgrade = offered === true;
  }
}
