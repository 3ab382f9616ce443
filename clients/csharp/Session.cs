using System;
using System.Collections.Generic;
using System.Threading.Tasks;

namespace Lorekeep
{
    /// <summary>Named storages and agents; gone when it ends, or its connection unless that is replaced.</summary>
    public sealed partial class Session
    {
        /// <summary>Errors about the server rather than the session: another attempt may succeed.</summary>
        static readonly HashSet<int> Transient = new HashSet<int> { Code.ServerShuttingDown, Code.TooManyWrongTokens, Code.SessionNotKept, Code.OutOfMemory, Code.ServerMemoryExceeded };

        readonly Client client;
        readonly object table = new object();
        readonly Dictionary<string, object> fields;
        readonly RememberedStorages storages = new RememberedStorages();
        readonly List<Agent> agents = new List<Agent>();
        ServerException broken;

        /// <summary>Changes when the connection is replaced.</summary>
        public string Id { get; private set; }

        /// <summary>Of a session that is kept: the secret with which CreateSessionAsync() resumes it, on any server.</summary>
        public string Resume { get; private set; }

        /// <summary>The agents of a session that was resumed, as far as they could be opened.</summary>
        public List<Agent> Resumed { get; } = new List<Agent>();

        /// <summary>The other agents, each with its `Error`; `Kept` of CreateAgentFields opens them.</summary>
        public List<KeptAgent> Unopened { get; } = new List<KeptAgent>();

        internal Session(Client client, CreateSessionResponse made, Dictionary<string, object> fields)
        {
            this.client = client;
            this.fields = fields;
            Id = made.SessionId;
            Resume = made.Resume;
            foreach (var kept in made.Agents ?? new List<KeptAgent>())
            {
                if (kept.AgentId == null) Unopened.Add(kept);
                else Resumed.Add(Add(new Agent(this, kept.AgentId, kept.Kept, null, null)));
            }
        }

        /// <summary>`History` of the fields: that of Agent.ExportAsync() of an earlier agent.</summary>
        public async Task<Agent> CreateAgentAsync(CreateAgentFields fields)
        {
            var json = fields.ToJson();
            var made = await CallAsync<CreateAgentResponse>("CreateAgentRequest", json);
            return Add(new Agent(this, made.AgentId, made.Kept, made.Memories, client.Restores ? json : null));
        }

        /// <summary>Downloads a model and tells how far it is. `onProgress` must not throw.</summary>
        public Task<PullModelResponse> PullModelAsync(PullModelFields fields, Action<PullProgress> onProgress)
        {
            return CallAsync<PullModelResponse>("PullModelRequest", fields.ToJson(), (frame, _) =>
            {
                if (frame is PullProgress progress) onProgress(progress);
            });
        }

        /// <summary>
        /// Opens a stream of audio, which ends with its connection. `onEvent` gets its frames, SpeechCredit included, and those of the
        /// turns that are spoken; it must not throw.
        /// </summary>
        public Task<OpenSpeechResponse> OpenSpeechAsync(OpenSpeechFields fields, Action<JsonView> onEvent)
        {
            Agent agent;
            lock (table) agent = agents.Find(one => one.Id == fields.AgentId);
            var texts = new Dictionary<string, string>();
            return CallAsync<OpenSpeechResponse>("OpenSpeechRequest", fields.ToJson(), (frame, _) =>
            {
                if (frame is TurnStarted started) texts[started.TurnId] = started.Text ?? "";
                if (frame is TurnComplete complete && texts.TryGetValue(complete.TurnId, out var text)) agent?.Remember(text, null, complete);
                if (frame != null) onEvent(frame);
            });
        }

        /// <summary>Sends samples of a stream, within its credit. `sequence`: 0, then 1 more for each. Never blocks. Those of a stream that has ended are dropped.</summary>
        public void SendAudio(uint stream, uint sequence, byte[] samples)
        {
            var payload = new byte[12 + samples.Length];
            var words = new[] { 1u, stream, sequence };
            for (var i = 0; i < 12; i++) payload[i] = (byte)(words[i / 4] >> (24 - 8 * (i % 4)));
            Buffer.BlockCopy(samples, 0, payload, 12, samples.Length);
            client.Latest.SendAudio(stream, payload);
        }

        /// <summary>Ends the session and everything in it.</summary>
        public async Task DestroyAsync()
        {
            await DestroySessionAsync();
            client.Remove(this);
        }

        internal Task<Link> CurrentAsync()
        {
            return client.CurrentAsync();
        }

        internal TaskCompletionSource<T> Source<T>()
        {
            return client.Source<T>();
        }

        internal async Task<T> CallAsync<T>(string type, Dictionary<string, object> fields, Action<JsonView, Exception> sink = null, Agent agent = null) where T : JsonView
        {
            var link = await client.CurrentAsync();
            var reply = await CallOnAsync<T>(link, type, fields, sink, agent);
            if (client.Restores && fields.ContainsKey("histories"))
            {
                // Turns were removed from histories: they must not come back with another connection.
                Agent[] all;
                lock (table) all = agents.ToArray();
                foreach (var one in all)
                {
                    var exported = await CallOnAsync<ExportAgentResponse>(link, "ExportAgentRequest", new Dictionary<string, object>(), null, one);
                    one.Forget(exported.History);
                }
            }
            return reply;
        }

        internal Task<T> CallOnAsync<T>(Link link, string type, Dictionary<string, object> fields, Action<JsonView, Exception> sink, Agent agent) where T : JsonView
        {
            if (broken != null) throw broken;
            // Ids change with the connection.
            fields["session_id"] = Id;
            if (agent != null) fields["agent_id"] = agent.Id;
            if (!client.Restores) return link.CallAsync<T>(type, fields, sink);
            var asked = RememberedStorages.CopyOf(fields);
            return link.CallAsync<T>(type, fields, sink, reply => Note(type, asked));
        }

        Agent Add(Agent agent)
        {
            if (client.Restores)
            {
                lock (table) agents.Add(agent);
            }
            return agent;
        }

        /// <summary>A request was served.</summary>
        void Note(string type, Dictionary<string, object> asked)
        {
            lock (table)
            {
                storages.Note(type, asked);
                if (type == "DestroyAgentRequest") agents.RemoveAll(agent => agent.Id.Equals(asked["agent_id"]));
            }
        }

        /// <summary>Makes everything again. Throws ConnectionLostException if another attempt may succeed where this one did not.</summary>
        internal async Task RestoreAsync(Link link)
        {
            if (broken != null) return;
            try
            {
                var kept = await RemakeAsync(link).ConfigureAwait(false);
                List<Dictionary<string, object>> made;
                Agent[] all;
                lock (table)
                {
                    made = storages.All();
                    all = agents.ToArray();
                }
                foreach (var storage in made)
                {
                    storage["session_id"] = Id;
                    await link.CallAsync<CreateEmbeddedStringStorageResponse>("CreateEmbeddedStringStorageRequest", storage).ConfigureAwait(false);
                }
                foreach (var agent in all) await agent.RestoreAsync(link, Id, kept).ConfigureAwait(false);
            }
            catch (ServerException error)
            {
                if (Transient.Contains(error.Code)) throw new ConnectionLostException(error.Message, error);
                broken = new ServerException(error.Code, error.Name, "the session could not be made again after the connection was lost: " + error.Message, error.Details);
            }
        }

        /// <summary>Gives the kept agents by number; the id of one that could not be opened is null.</summary>
        async Task<Dictionary<long, string>> RemakeAsync(Link link)
        {
            var again = new Dictionary<string, object>(fields);
            again.Remove("keep");
            again.Remove("resume");
            if (Resume != null) again["resume"] = Resume;
            CreateSessionResponse made;
            try
            {
                made = await link.CallAsync<CreateSessionResponse>("CreateSessionRequest", again).ConfigureAwait(false);
            }
            catch (ServerException error) when (Resume != null && error.Code == Code.KeptSessionNotFound)
            {
                again.Remove("resume");
                again["keep"] = true;
                made = await link.CallAsync<CreateSessionResponse>("CreateSessionRequest", again).ConfigureAwait(false);
            }
            Id = made.SessionId;
            Resume = made.Resume;
            var kept = new Dictionary<long, string>();
            foreach (var agent in made.Agents ?? new List<KeptAgent>()) kept[agent.Kept] = agent.AgentId;
            return kept;
        }
    }
}
