using System;
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.Threading.Tasks;

namespace Lorekeep
{
    /// <summary>The server refused a request: docs/reference/errors.md lists the codes.</summary>
    public class ServerException : Exception
    {
        /// <summary>A constant of Code, or one of a newer server.</summary>
        public int Code { get; }
        public string Name { get; }
        public Dictionary<string, object> Details { get; }

        /// <summary>How to mend it; empty for a code of a newer server.</summary>
        public string Remedy => Lorekeep.Code.RemedyOf(Code);

        public ServerException(int code, string name, string message, Dictionary<string, object> details) : base(message)
        {
            Code = code;
            Name = name;
            Details = details ?? new Dictionary<string, object>();
        }
    }

    /// <summary>The connection is gone, and its sessions with it. What was under way may or may not have been served.</summary>
    public class ConnectionLostException : Exception
    {
        public ConnectionLostException(string message, Exception cause = null) : base(message, cause)
        {
        }
    }

    public enum ConnectionState
    {
        Connected,
        Reconnecting,
        Closed,
    }

    /// <summary>How a lost connection is replaced. The delay before each attempt doubles, minus up to half at random.</summary>
    public sealed class ReconnectPolicy
    {
        public int Attempts = 10;
        public int MinDelayMs = 100;
        public int MaxDelayMs = 5000;

        static readonly Random Random = new Random();

        internal int DelayOf(int attempt)
        {
            var longest = Math.Min(MaxDelayMs, MinDelayMs * Math.Pow(2, attempt));
            lock (Random) return (int)(longest * (0.5 + Random.NextDouble() / 2));
        }
    }

    public sealed class ClientOptions
    {
        public string AccessToken;

        /// <summary>A server that sends longer frames is left.</summary>
        public int MaxFrameBytes = 64 << 20;

        /// <summary>For the connection and the greeting.</summary>
        public int GreetingMs = 10000;

        /// <summary>Between two parts of a frame.</summary>
        public int StallMs = 30000;

        /// <summary>Until a request without a reply throws TimeoutException; 0: never.</summary>
        public int RequestMs = 0;

        /// <summary>
        /// Replies and events wait for Poll(), which gives them on the thread that calls it: once in each frame of a game. Waiting
        /// for a task on that thread would then never end. False: they come from a thread of the client.
        /// </summary>
        public bool Polled = false;

        /// <summary>
        /// Replaces a lost connection and makes its sessions, storages and agents again. What was under way throws
        /// ConnectionLostException; what is asked meanwhile waits. Null: it is not replaced.
        /// </summary>
        public ReconnectPolicy Reconnect;

        /// <summary>Hears of `Reconnecting`, `Connected` and `Closed`; the error is null unless a connection was lost.</summary>
        public Action<ConnectionState, Exception> OnState;
    }

    /// <summary>A connection, which may be replaced when it is lost. Threads can share it.</summary>
    public sealed partial class Client : IDisposable
    {
        readonly string host;
        readonly int port;
        readonly ClientOptions options;
        readonly ConcurrentQueue<Action> waiting = new ConcurrentQueue<Action>();
        readonly object table = new object();
        readonly List<Session> sessions = new List<Session>();
        Link link;
        /// <summary>Gives the connection that replaces the lost one; null while there is one, or if there will be none.</summary>
        TaskCompletionSource<Link> next;
        ConnectionLostException lost;
        bool isDisposed;

        /// <summary>Begins to connect, on a thread of its own. Requests may be made at once; Greeting tells whether a server answers.</summary>
        public Client(string host = "127.0.0.1", int port = 9100, ClientOptions options = null)
        {
            this.host = host;
            this.port = port;
            this.options = options ?? new ClientOptions();
            lock (table) link = new Link(this, host, port, this.options);
            Greeting = link.Greeting;
        }

        /// <summary>The server's greeting; fails with ConnectionLostException.</summary>
        public Task<Hello> Greeting { get; }

        /// <summary>The connection is gone and will not be replaced.</summary>
        public bool IsLost
        {
            get
            {
                lock (table) return lost != null;
            }
        }

        /// <summary>Gives the replies and events that have come (ClientOptions.Polled). Never blocks. Returns their number.</summary>
        public int Poll()
        {
            var given = 0;
            for (var most = waiting.Count; given < most && waiting.TryDequeue(out var action); given++) action();
            return given;
        }

        public async Task<Session> CreateSessionAsync(CreateSessionFields fields = null)
        {
            var json = (fields ?? new CreateSessionFields()).ToJson();
            if (!json.ContainsKey("access_token") && options.AccessToken != null) json["access_token"] = options.AccessToken;
            var made = await CallAsync<CreateSessionResponse>("CreateSessionRequest", json);
            var session = new Session(this, made, json);
            if (Restores)
            {
                lock (table) sessions.Add(session);
            }
            return session;
        }

        /// <summary>Ends every session and the connection, and attempts to replace it. Twice is fine.</summary>
        public void Dispose()
        {
            Link last;
            lock (table)
            {
                isDisposed = true;
                last = link;
            }
            var reason = new ConnectionLostException("the connection was closed");
            last.Lose(reason);
            End(reason);
        }

        /// <summary>Whether sessions must remember how they were made.</summary>
        internal bool Restores => options.Reconnect != null;

        internal async Task<T> CallAsync<T>(string type, Dictionary<string, object> fields, Action<JsonView, Exception> sink = null) where T : JsonView
        {
            return await (await CurrentAsync()).CallAsync<T>(type, fields, sink);
        }

        /// <summary>Gives the connection, when there is one. Throws ConnectionLostException if there will be none.</summary>
        internal Task<Link> CurrentAsync()
        {
            lock (table) return next != null ? next.Task : Task.FromResult(link);
        }

        /// <summary>The connection; a lost one while it is replaced.</summary>
        internal Link Latest
        {
            get
            {
                lock (table) return link;
            }
        }

        internal void Remove(Session session)
        {
            lock (table) sessions.Remove(session);
        }

        /// <summary>Those that wait go on within Poll(), or on threads of the pool, never on the thread that reads.</summary>
        internal TaskCompletionSource<T> Source<T>()
        {
            return new TaskCompletionSource<T>(options.Polled ? TaskCreationOptions.None : TaskCreationOptions.RunContinuationsAsynchronously);
        }

        internal void Give(Action action)
        {
            if (options.Polled) waiting.Enqueue(action);
            else action();
        }

        /// <summary>A connection tells that it is lost.</summary>
        internal void Replace(Link which, ConnectionLostException reason)
        {
            bool replaces;
            lock (table)
            {
                if (which != link || lost != null) return;
                replaces = Restores && !isDisposed && which.Greeting.Status == TaskStatus.RanToCompletion;
                if (replaces)
                {
                    next = Source<Link>();
                    // Nobody may wait for it.
                    next.Task.ContinueWith(task => task.Exception, TaskContinuationOptions.OnlyOnFaulted);
                }
            }
            if (replaces) Task.Run(() => ReconnectAsync(reason));
            else End(reason);
        }

        void End(ConnectionLostException reason)
        {
            TaskCompletionSource<Link> waited;
            lock (table)
            {
                if (lost != null) return;
                lost = reason;
                waited = next;
                next = null;
            }
            Give(() => waited?.TrySetException(reason));
            Tell(ConnectionState.Closed, isDisposed ? null : reason);
        }

        void Tell(ConnectionState state, Exception error)
        {
            if (options.OnState != null) Give(() => options.OnState(state, error));
        }

        async Task ReconnectAsync(ConnectionLostException reason)
        {
            Tell(ConnectionState.Reconnecting, reason);
            var policy = options.Reconnect;
            for (var attempt = 0; attempt < policy.Attempts && !IsLost; attempt++)
            {
                await Task.Delay(policy.DelayOf(attempt)).ConfigureAwait(false);
                if (IsLost) return;
                var fresh = new Link(this, host, port, options);
                try
                {
                    await fresh.Greeting.ConfigureAwait(false);
                    Session[] all;
                    lock (table) all = sessions.ToArray();
                    foreach (var session in all) await session.RestoreAsync(fresh).ConfigureAwait(false);
                    if (Adopt(fresh)) return;
                }
                catch (Exception error) when (error is ConnectionLostException || error is TimeoutException)
                {
                    reason = new ConnectionLostException("the connection was lost, and " + (attempt + 1) + " attempts to reconnect failed: " + error.Message, error);
                }
                fresh.Lose(new ConnectionLostException("the connection was given up"));
            }
            End(reason);
        }

        /// <summary>False: it is lost already, or the client was disposed of.</summary>
        bool Adopt(Link fresh)
        {
            TaskCompletionSource<Link> waited;
            lock (table)
            {
                if (isDisposed || lost != null || fresh.Lost != null) return false;
                link = fresh;
                waited = next;
                next = null;
            }
            Tell(ConnectionState.Connected, null);
            Give(() => waited.TrySetResult(fresh));
            return true;
        }
    }
}
