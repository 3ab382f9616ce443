using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;

namespace Lorekeep
{
    /// <summary>For .NET Standard 2.1 and later, and `await foreach` of C# 8; this file itself is C# 7.</summary>
    public static class TurnStreams
    {
        /// <summary>
        /// Takes a turn and gives its frames as they come: TurnStarted, TurnText, TurnForget, and TurnComplete last. Leaving the loop
        /// early cancels the turn; so does the token, after which TurnComplete has the status `cancelled`.
        /// </summary>
        public static IAsyncEnumerable<JsonView> StreamAsync(this Agent agent, string text, TurnFields options = null,
            CancellationToken cancellation = default(CancellationToken))
        {
            return new TurnStream(agent, text, options, cancellation);
        }

        /// <summary>Each enumeration is a turn.</summary>
        sealed class TurnStream : IAsyncEnumerable<JsonView>
        {
            readonly Agent agent;
            readonly string text;
            readonly TurnFields options;
            readonly CancellationToken cancellation;

            public TurnStream(Agent agent, string text, TurnFields options, CancellationToken cancellation)
            {
                this.agent = agent;
                this.text = text;
                this.options = options;
                this.cancellation = cancellation;
            }

            public IAsyncEnumerator<JsonView> GetAsyncEnumerator(CancellationToken enumeration = default(CancellationToken))
            {
                return new Turn(agent, text, options, CancellationTokenSource.CreateLinkedTokenSource(cancellation, enumeration));
            }
        }

        sealed class Turn : IAsyncEnumerator<JsonView>
        {
            readonly CancellationTokenSource cancellation;
            readonly Queue<JsonView> frames = new Queue<JsonView>();
            readonly Task<TurnComplete> ended;
            TaskCompletionSource<bool> waiting;

            public JsonView Current { get; private set; }

            public Turn(Agent agent, string text, TurnFields options, CancellationTokenSource cancellation)
            {
                this.cancellation = cancellation;
                ended = agent.TurnAsync(text, options, Hear, cancellation.Token);
                // Fails only with what MoveNextAsync() then throws.
                ended.ContinueWith(task => Wake(), TaskContinuationOptions.ExecuteSynchronously);
            }

            public ValueTask<bool> MoveNextAsync()
            {
                return new ValueTask<bool>(MoveAsync());
            }

            public ValueTask DisposeAsync()
            {
                return new ValueTask(LeaveAsync());
            }

            async Task<bool> MoveAsync()
            {
                for (;;)
                {
                    Task<bool> next;
                    lock (frames)
                    {
                        if (frames.Count > 0)
                        {
                            Current = frames.Dequeue();
                            return true;
                        }
                        if (Current is TurnComplete) return false;
                        if (waiting == null) waiting = new TaskCompletionSource<bool>();
                        next = ended.IsCompleted ? Task.FromResult(true) : waiting.Task;
                    }
                    if (ended.IsFaulted || ended.IsCanceled) await ended;
                    await next;
                }
            }

            async Task LeaveAsync()
            {
                if (!ended.IsCompleted) cancellation.Cancel();
                try
                {
                    await ended;
                }
                catch (Exception)
                {
                    // The loop has thrown it, or has left before it could matter.
                }
                cancellation.Dispose();
            }

            void Hear(JsonView frame)
            {
                lock (frames) frames.Enqueue(frame);
                Wake();
            }

            void Wake()
            {
                TaskCompletionSource<bool> woken;
                lock (frames)
                {
                    woken = waiting;
                    waiting = null;
                }
                woken?.TrySetResult(true);
            }
        }
    }
}
