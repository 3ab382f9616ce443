// A server over a root, under the eyes of the stepper, and a client's session with it.
import { writeFileSync } from 'node:fs';
import { startServer } from '../../server/server-process.mjs';
import { Peer } from '../attacks/peer.mjs';
import { linesOf, stepper } from '../trace/stepper.mjs';

export class Session {
  #n = 0;

  /** A server over `root`, watched for what it opens in `outside`, and a session with it. */
  static async begin(sample, root, settings = {}) {
    const session = new Session();
    const tool = stepper();
    session.sample = sample;
    session.watch = sample.at('opened.txt');
    writeFileSync(session.watch, '');
    const wrapper = tool.path ? [tool.path, 'opens', sample.at('outside'), session.watch, '--'] : [];
    session.watched = tool.path !== undefined;
    const values = {
      storage_root: root,
      models_catalog_path: sample.at('models.json'),
      log_level: 'info',
      ...settings,
    };
    session.server = await startServer(sample.folder, values, [], { wrapper });
    await session.connect();
    return session;
  }

  async connect() {
    this.peer = await Peer.open(this.server.port);
    this.session_id = await this.peer.session();
  }

  /** The reply to a request that names `path` in `field`. */
  async ask(field, path) {
    const n = this.#n++;
    const request = field.request(path, n, this.sample);
    return { n, reply: await this.peer.request({ ...request, session_id: this.session_id, id: n }) };
  }

  /** The reply to a request for a session in a folder of its own. */
  folder(storage_data_folder) {
    return this.peer.request({ type: 'CreateSessionRequest', id: `f${this.#n++}`, storage_data_folder });
  }

  /** The hits of a search of `kb.json` in another session of this connection. */
  async load(session_id, name) {
    const id = this.#n++;
    const create = { type: 'CreateEmbeddedStringStorageRequest', session_id, name, config_path: 'kb.json' };
    await this.peer.request({ ...create, id: `c${id}` });
    const search = {
      type: 'SearchEmbeddedStringStorageRequest',
      session_id,
      name,
      text: 'secret',
      mode: 'dense',
    };
    return this.peer.request({ ...search, id: `s${id}` });
  }

  /** Files outside that were opened since the last call. */
  async opened() {
    await this.peer.request({ type: 'Ping', id: `p${this.#n++}` });
    const lines = linesOf(this.watch);
    if (lines.length > 0) writeFileSync(this.watch, '');
    return lines;
  }

  async end() {
    this.peer.close();
    const alive = this.server.running();
    await this.server.stop();
    return alive;
  }
}
