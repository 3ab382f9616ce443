using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

namespace Lorekeep
{
    /// <summary>Named storages and agents; gone when it or its connection ends.</summary>
    public sealed partial class Session
    {
        readonly Client client;
        public string Id { get; }

        /// <summary>Of a session that is kept: the secret with which CreateSessionAsync() resumes it, on any server.</summary>
        public string Resume { get; }

        /// <summary>The agents of a session that was resumed, as far as they could be opened.</summary>
        public List<Agent> Resumed { get; } = new List<Agent>();

        /// <summary>The other agents, each with its `Error`; `Kept` of CreateAgentFields opens them.</summary>
        public List<KeptAgent> Unopened { get; } = new List<KeptAgent>();

        internal Session(Client client, CreateSessionResponse made)
        {
            this.client = client;
            Id = made.SessionId;
            Resume = made.Resume;
            foreach (var kept in made.Agents ?? new List<KeptAgent>())
            {
                if (kept.AgentId == null) Unopened.Add(kept);
                else Resumed.Add(new Agent(this, kept.AgentId, null));
            }
        }

        /// <summary>`History` of the fields: that of Agent.ExportAsync() of an earlier agent.</summary>
        public async Task<Agent> CreateAgentAsync(CreateAgentFields fields)
        {
            var made = await CallAsync<CreateAgentResponse>("CreateAgentRequest", fields.ToJson());
            return new Agent(this, made.AgentId, made.Memories);
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
        /// Opens a stream of audio. `onEvent` gets its frames, SpeechCredit included, and those of the turns that are spoken; it
        /// must not throw.
        /// </summary>
        public Task<OpenSpeechResponse> OpenSpeechAsync(OpenSpeechFields fields, Action<JsonView> onEvent)
        {
            return CallAsync<OpenSpeechResponse>("OpenSpeechRequest", fields.ToJson(), (frame, _) =>
            {
                if (frame != null) onEvent(frame);
            });
        }

        /// <summary>Sends samples of a stream, within its credit. `sequence`: 0, then 1 more for each. Never blocks.</summary>
        public void SendAudio(uint stream, uint sequence, byte[] samples)
        {
            var payload = new byte[12 + samples.Length];
            var words = new[] { 1u, stream, sequence };
            for (var i = 0; i < 12; i++) payload[i] = (byte)(words[i / 4] >> (24 - 8 * (i % 4)));
            Buffer.BlockCopy(samples, 0, payload, 12, samples.Length);
            client.SendAudio(payload);
        }

        internal TaskCompletionSource<T> Source<T>()
        {
            return client.Source<T>();
        }

        internal Task<T> CallAsync<T>(string type, Dictionary<string, object> fields, Action<JsonView, Exception> sink = null) where T : JsonView
        {
            fields["session_id"] = Id;
            return client.CallAsync<T>(type, fields, sink);
        }
    }

    /// <summary>Takes turns, one after the other.</summary>
    public sealed class Agent
    {
        readonly Session session;
        public string Id { get; }

        /// <summary>The memories of its remember nodes. Keep their secrets: each is sent once and opens its memory later.</summary>
        public List<MadeMemory> Memories { get; }

        internal Agent(Session session, string id, List<MadeMemory> memories)
        {
            this.session = session;
            Id = id;
            Memories = memories ?? new List<MadeMemory>();
        }

        /// <summary>
        /// Takes a turn and gives its end; `Status` says how it ended. `onEvent` gets TurnStarted, TurnText, TurnForget and
        /// TurnComplete as they come; what it throws, the task throws. Cancelling cancels the turn, whose end then has the status `cancelled`.
        /// </summary>
        public async Task<TurnComplete> TurnAsync(string text, TurnFields options = null, Action<JsonView> onEvent = null,
            CancellationToken cancellation = default(CancellationToken))
        {
            var ended = session.Source<TurnComplete>();
            var fields = options == null ? new Dictionary<string, object>() : options.ToJson();
            fields["agent_id"] = Id;
            fields["text"] = text;
            var started = await session.CallAsync<TurnStarted>("TurnRequest", fields, (frame, lost) =>
            {
                try
                {
                    if (frame != null) onEvent?.Invoke(frame);
                }
                catch (Exception error)
                {
                    ended.TrySetException(error);
                }
                if (frame is TurnComplete complete) ended.TrySetResult(complete);
                if (lost != null) ended.TrySetException(lost);
            });
            using (cancellation.Register(() => Cancel(started.TurnId)))
            {
                return await ended.Task;
            }
        }

        void Cancel(string turnId)
        {
            var cancelled = session.CancelTurnAsync(new CancelTurnFields { TurnId = turnId });
            // It may have ended, or the connection is lost, which its own task tells.
            cancelled.ContinueWith(task => task.Exception, TaskContinuationOptions.OnlyOnFaulted);
        }

        /// <summary>The turns that the agent remembers, for the fields of CreateAgentAsync().</summary>
        public async Task<History> ExportAsync()
        {
            return (await session.ExportAgentAsync(new ExportAgentFields { AgentId = Id })).History;
        }

        public Task DestroyAsync()
        {
            return session.DestroyAgentAsync(new DestroyAgentFields { AgentId = Id });
        }
    }
}
