using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

namespace Lorekeep
{
    /// <summary>Takes turns, one after the other.</summary>
    public sealed class Agent
    {
        /// <summary>Turns that are remembered, as many as the server imports.</summary>
        const int MaxTurns = 1000;

        readonly Session session;
        /// <summary>Null for an agent that was resumed, and where nothing is made again.</summary>
        readonly Dictionary<string, object> fields;
        List<object> turns = new List<object>();
        long? kept;

        /// <summary>Changes when the connection is replaced.</summary>
        public string Id { get; private set; }

        /// <summary>The memories of its remember nodes. Keep their secrets: each is sent once and opens its memory later.</summary>
        public List<MadeMemory> Memories { get; }

        internal Agent(Session session, string id, long? kept, List<MadeMemory> memories, Dictionary<string, object> fields)
        {
            this.session = session;
            this.kept = kept;
            Id = id;
            Memories = memories ?? new List<MadeMemory>();
            if (fields == null) return;
            this.fields = WithSecrets(RememberedStorages.CopyOf(fields));
            if (this.fields.TryGetValue("history", out var history)) turns.AddRange((List<object>)((Dictionary<string, object>)history)["turns"]);
        }

        /// <summary>
        /// Takes a turn and gives its end; `Status` says how it ended. `onEvent` gets TurnStarted, TurnText, TurnForget and
        /// TurnComplete as they come; what it throws, the task throws. Cancelling cancels the turn, whose end then has the status `cancelled`.
        /// </summary>
        public async Task<TurnComplete> TurnAsync(string text, TurnFields options = null, Action<JsonView> onEvent = null,
            CancellationToken cancellation = default(CancellationToken))
        {
            var ended = session.Source<TurnComplete>();
            var asked = options == null ? new Dictionary<string, object>() : options.ToJson();
            asked["text"] = text;
            var actionResult = options?.ActionResult;
            var link = await session.CurrentAsync();
            var started = await session.CallOnAsync<TurnStarted>(link, "TurnRequest", asked, (frame, lost) =>
            {
                if (frame is TurnComplete done && (options == null || options.DryRun != true)) Remember(text, actionResult, done);
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
            }, this);
            using (cancellation.Register(() => Cancel(link, started.TurnId)))
            {
                return await ended.Task;
            }
        }

        void Cancel(Link link, string turnId)
        {
            var cancelled = session.CallOnAsync<Ack>(link, "CancelTurnRequest", new Dictionary<string, object> { ["turn_id"] = turnId }, null, null);
            // It may have ended, or the connection is lost, which its own task tells.
            cancelled.ContinueWith(task => task.Exception, TaskContinuationOptions.OnlyOnFaulted);
        }

        /// <summary>The turns that the agent remembers, for the fields of CreateAgentAsync().</summary>
        public async Task<History> ExportAsync()
        {
            return (await session.CallAsync<ExportAgentResponse>("ExportAgentRequest", new Dictionary<string, object>(), null, this)).History;
        }

        public Task DestroyAsync()
        {
            return session.CallAsync<Ack>("DestroyAgentRequest", new Dictionary<string, object>(), null, this);
        }

        /// <summary>Keeps a turn that has ended.</summary>
        internal void Remember(string text, object actionResult, TurnComplete complete)
        {
            if (fields == null || complete.Status == "failed" || (complete.Status == "cancelled" && complete.Text == "")) return;
            var turn = new Dictionary<string, object> { ["text"] = text, ["reply"] = complete.Text };
            if (complete.Json.TryGetValue("action", out var action) && action is Dictionary<string, object> json)
                turn["action"] = new Dictionary<string, object> { ["name"] = json["name"], ["arguments"] = json["arguments"] };
            if (actionResult != null) turn["action_result"] = actionResult;
            lock (fields)
            {
                turns.Add(turn);
                if (turns.Count > MaxTurns) turns.RemoveAt(0);
            }
        }

        /// <summary>Some turns were removed: keeps what is left.</summary>
        internal void Forget(History left)
        {
            if (fields == null) return;
            lock (fields) turns = (List<object>)left.Json["turns"];
        }

        internal async Task RestoreAsync(Link link, string sessionId, Dictionary<long, string> agents)
        {
            var isKept = kept != null && agents.ContainsKey(kept.Value);
            var id = isKept ? agents[kept.Value] : null;
            if (id != null)
            {
                Id = id;
                return;
            }
            if (fields == null) throw new ServerException(Code.KeptSessionNotFound, "KeptSessionNotFound", "an agent that was resumed could not be opened again", null);
            var again = new Dictionary<string, object>(fields) { ["session_id"] = sessionId };
            again.Remove("kept");
            again.Remove("history");
            lock (fields)
            {
                if (isKept) again["kept"] = kept.Value;
                else if (turns.Count > 0) again["history"] = new Dictionary<string, object> { ["version"] = 1L, ["turns"] = new List<object>(turns) };
            }
            var made = await link.CallAsync<CreateAgentResponse>("CreateAgentRequest", again).ConfigureAwait(false);
            Id = made.AgentId;
            kept = made.Kept;
        }

        /// <summary>The request that opens the memories which it has made.</summary>
        Dictionary<string, object> WithSecrets(Dictionary<string, object> json)
        {
            foreach (var memory in Memories)
            {
                if (memory.Secret == null) continue;
                foreach (Dictionary<string, object> node in (List<object>)((Dictionary<string, object>)json["graph"])["nodes"])
                {
                    if (!memory.Node.Equals(node["id"])) continue;
                    if (!node.ContainsKey("params")) node["params"] = new Dictionary<string, object>();
                    ((Dictionary<string, object>)node["params"])["secret"] = memory.Secret;
                }
            }
            return json;
        }
    }
}
