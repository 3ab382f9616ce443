using System;
using System.Collections.Concurrent;
using System.Collections.Generic;
using System.Net.Sockets;
using System.Text;
using System.Threading;
using System.Threading.Tasks;

namespace Lorekeep
{
    /// <summary>One connection.</summary>
    sealed class Link
    {
        static readonly UTF8Encoding Utf8 = new UTF8Encoding(false, true);

        readonly string host;
        readonly int port;
        readonly ClientOptions options;
        readonly TcpClient socket = new TcpClient { NoDelay = true };
        readonly BlockingCollection<byte[]> outgoing = new BlockingCollection<byte[]>();
        readonly Client owner;
        readonly TaskCompletionSource<Hello> greeting;
        readonly object table = new object();
        readonly Dictionary<long, Waiting> replies = new Dictionary<long, Waiting>();
        readonly Dictionary<string, Action<JsonView, Exception>> turns = new Dictionary<string, Action<JsonView, Exception>>(StringComparer.Ordinal);
        readonly Dictionary<long, Action<JsonView, Exception>> streams = new Dictionary<long, Action<JsonView, Exception>>();
        ConnectionLostException lost;
        long nextId = 1;

        sealed class Waiting
        {
            public Action<JsonView> Resolve;
            public Action<Exception> Reject;
            /// <summary>Hears the turn, the stream of audio or the download that the request starts, and the loss of the connection.</summary>
            public Action<JsonView, Exception> Sink;
            public Timer Timer;
        }

        /// <summary>Begins to connect, on a thread of its own. The owner hears of its loss first.</summary>
        public Link(Client owner, string host, int port, ClientOptions options)
        {
            this.owner = owner;
            this.host = host;
            this.port = port;
            this.options = options;
            greeting = owner.Source<Hello>();
            // Nobody may await it: its exception is then no defect.
            greeting.Task.ContinueWith(task => task.Exception, TaskContinuationOptions.OnlyOnFaulted);
            new Thread(Read) { IsBackground = true, Name = "lorekeep reads" }.Start();
        }

        public Task<Hello> Greeting => greeting.Task;

        public ConnectionLostException Lost
        {
            get
            {
                lock (table) return lost;
            }
        }

        /// <summary>
        /// Sends a request and gives its reply. `note` hears it before any later frame is given. Throws ArgumentException for values
        /// that JSON lacks.
        /// </summary>
        public Task<T> CallAsync<T>(string type, Dictionary<string, object> fields, Action<JsonView, Exception> sink = null, Action<JsonView> note = null) where T : JsonView
        {
            var source = owner.Source<T>();
            var request = new Waiting
            {
                Resolve = frame =>
                {
                    note?.Invoke(frame);
                    Settle(source, frame as T);
                },
                Reject = error => source.TrySetException(error),
                Sink = sink,
            };
            Exception refused;
            lock (table)
            {
                var id = nextId;
                var frame = new Dictionary<string, object>(fields) { ["type"] = type, ["id"] = id };
                var bytes = Framed(1, Utf8.GetBytes(Json.Write(frame)));
                refused = lost;
                if (refused == null)
                {
                    nextId++;
                    replies[id] = request;
                    if (options.RequestMs > 0) request.Timer = new Timer(_ => TimeOut(id, type), null, options.RequestMs, Timeout.Infinite);
                    outgoing.Add(bytes);
                }
            }
            if (refused != null) source.TrySetException(refused);
            return source.Task;
        }

        /// <summary>Audio of a stream that has ended, perhaps with an earlier connection, is dropped.</summary>
        public void SendAudio(uint stream, byte[] payload)
        {
            lock (table)
            {
                if (lost != null) throw lost;
                if (!streams.ContainsKey(stream)) return;
                outgoing.Add(Framed(2, payload));
            }
        }

        static void Settle<T>(TaskCompletionSource<T> source, T frame) where T : JsonView
        {
            if (frame != null) source.TrySetResult(frame);
            else source.TrySetException(new ConnectionLostException("the server sent another reply than the request has"));
        }

        void TimeOut(long id, string type)
        {
            Waiting late;
            lock (table)
            {
                if (!replies.TryGetValue(id, out late)) return;
                replies.Remove(id);
            }
            owner.Give(() => late.Reject(new TimeoutException(type + ": no reply within " + options.RequestMs + " ms")));
        }

        static byte[] Framed(byte kind, byte[] payload)
        {
            var bytes = new byte[5 + payload.Length];
            bytes[0] = kind;
            for (var i = 0; i < 4; i++) bytes[1 + i] = (byte)(payload.Length >> (24 - 8 * i));
            Buffer.BlockCopy(payload, 0, bytes, 5, payload.Length);
            return bytes;
        }

        void Read()
        {
            ConnectionLostException reason;
            try
            {
                var deadline = Environment.TickCount + options.GreetingMs;
                if (!socket.ConnectAsync(host, port).Wait(options.GreetingMs)) throw new ConnectionLostException("nothing answers at " + host + ":" + port);
                Greet(new Hello(ReadFrame(() => deadline - Environment.TickCount)));
                new Thread(Write) { IsBackground = true, Name = "lorekeep writes" }.Start();
                for (;;) Receive(ReadFrame(null));
            }
            catch (ConnectionLostException error)
            {
                reason = error;
            }
            catch (Exception error) // Whatever ends the reader, nobody may wait for it any longer.
            {
                var inner = error is AggregateException ? error.InnerException : error;
                reason = new ConnectionLostException("the connection was lost: " + inner.Message, inner);
            }
            Lose(reason);
        }

        void Write()
        {
            try
            {
                foreach (var bytes in outgoing.GetConsumingEnumerable()) socket.GetStream().Write(bytes, 0, bytes.Length);
            }
            catch (Exception error)
            {
                Lose(new ConnectionLostException("the connection failed: " + error.Message, error));
            }
        }

        Dictionary<string, object> ReadFrame(Func<int> greetingLeft)
        {
            var header = new byte[5];
            Fill(header, 0, 1, greetingLeft ?? (() => 0));
            Fill(header, 1, 5, greetingLeft ?? (() => options.StallMs));
            var length = ((long)header[1] << 24) | ((long)header[2] << 16) | ((long)header[3] << 8) | header[4];
            if (header[0] != 1) throw new ConnectionLostException("the server sent bytes that are no frame");
            if (length > options.MaxFrameBytes) throw new ConnectionLostException("the server sent a frame of " + length + " bytes; MaxFrameBytes is " + options.MaxFrameBytes);
            // Memory grows with the bytes that come, not with the announced length.
            var payload = new byte[Math.Min(length, 65536)];
            for (var at = 0; at < length; at = payload.Length)
            {
                if (at > 0) Array.Resize(ref payload, (int)Math.Min(length, at * 2L));
                Fill(payload, at, payload.Length, greetingLeft ?? (() => options.StallMs));
            }
            return Json.Parse(Utf8.GetString(payload)) as Dictionary<string, object> ?? throw new FormatException("a frame that is no object");
        }

        /// <summary>`left`: milliseconds until the next bytes must come; 0: any time.</summary>
        void Fill(byte[] bytes, int at, int end, Func<int> left)
        {
            while (at < end)
            {
                var most = left();
                if (most < 0) throw new ConnectionLostException("the server did not greet in time");
                socket.ReceiveTimeout = most;
                var got = socket.GetStream().Read(bytes, at, end - at);
                if (got == 0) throw new ConnectionLostException("the server closed the connection");
                at += got;
            }
        }

        void Greet(Hello hello)
        {
            if (hello.Type != "Hello" || hello.Protocol != Frames.Protocol || hello.Server != "lorekeep")
                throw new ConnectionLostException(host + ":" + port + " does not speak protocol " + Frames.Protocol + " of lorekeep");
            owner.Give(() => greeting.TrySetResult(hello));
        }

        void Receive(Dictionary<string, object> json)
        {
            var frame = Frames.Read(json);
            json.TryGetValue("reply_to", out var given);
            var replyTo = given as long?;
            if (frame is Error error && replyTo == null) throw new ConnectionLostException("the server ended the connection: " + error.Name + ": " + error.Message);
            Action action = null;
            lock (table)
            {
                if (json.TryGetValue("turn_id", out var turn) && replyTo == null && turn is string turnId) action = TurnEvent(turnId, frame);
                else if (frame is PullProgress progress) action = Progress(progress);
                else if (json.TryGetValue("stream", out var stream) && !(frame is OpenSpeechResponse) && stream is long number) action = StreamEvent(number, frame);
                else if (replyTo != null && replies.TryGetValue(replyTo.Value, out var request)) action = Answer(replyTo.Value, request, frame);
            }
            if (action != null) owner.Give(action);
        }

        Action TurnEvent(string turnId, JsonView frame)
        {
            if (!turns.TryGetValue(turnId, out var sink)) return null;
            if (frame is TurnComplete) turns.Remove(turnId);
            return () => sink(frame, null);
        }

        Action Progress(PullProgress progress)
        {
            if (!(progress.RequestId is long id) || !replies.TryGetValue(id, out var request) || request.Sink == null) return null;
            return () => request.Sink(progress, null);
        }

        Action StreamEvent(long stream, JsonView frame)
        {
            if (!streams.TryGetValue(stream, out var sink)) return null;
            if (frame is TurnStarted started) turns[started.TurnId] = sink;
            if (frame is SpeechClosed) streams.Remove(stream);
            return () => sink(frame, null);
        }

        Action Answer(long id, Waiting request, JsonView frame)
        {
            if (frame is Error error)
            {
                if (error.Code <= 0 || error.Name == null || error.Message == null) throw new FormatException("an Error without its fields");
                var refusal = new ServerException((int)error.Code, error.Name, error.Message, error.Details);
                Forget(id, request);
                return () => request.Reject(refusal);
            }
            // The first event may be the next frame.
            if (frame is TurnStarted started && request.Sink != null) turns[started.TurnId ?? throw new FormatException("a turn without its id")] = request.Sink;
            if (frame is OpenSpeechResponse opened && request.Sink != null) streams[opened.Stream] = request.Sink;
            Forget(id, request);
            return () =>
            {
                if (frame is TurnStarted) request.Sink?.Invoke(frame, null);
                request.Resolve(frame);
            };
        }

        void Forget(long id, Waiting request)
        {
            replies.Remove(id);
            request.Timer?.Dispose();
        }

        public void Lose(ConnectionLostException reason)
        {
            var actions = new List<Action> { () => greeting.TrySetException(reason) };
            lock (table)
            {
                if (lost != null) return;
                lost = reason;
            }
            // First: who hears of the loss and asks again waits for the next connection.
            owner.Replace(this, reason);
            lock (table)
            {
                foreach (var request in replies.Values)
                {
                    request.Timer?.Dispose();
                    actions.Add(() => request.Reject(reason));
                }
                var sinks = new HashSet<Action<JsonView, Exception>>(turns.Values);
                sinks.UnionWith(streams.Values);
                foreach (var sink in sinks) actions.Add(() => sink(null, reason));
                replies.Clear();
                turns.Clear();
                streams.Clear();
                outgoing.CompleteAdding();
            }
            socket.Close();
            foreach (var action in actions) owner.Give(action);
        }
    }
}
