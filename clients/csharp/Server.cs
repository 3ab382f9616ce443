using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.IO;
using System.Runtime.InteropServices;
using System.Text;
using System.Threading;
using System.Threading.Tasks;

namespace Lorekeep
{
    /// <summary>The server did not start. The message ends with the last lines of its log.</summary>
    public class ServerStartException : Exception
    {
        public ServerStartException(string message, Exception cause = null) : base("the server did not start: " + message, cause)
        {
        }
    }

    public sealed class ServerOptions
    {
        /// <summary>The program, such as a `node` that is shipped with the product.</summary>
        public string Program = "node";

        /// <summary>Arguments before `serve`: the path of lorekeep's `dist/src/cli/lorekeep.cjs`.</summary>
        public string[] ProgramArguments = { "node_modules/lorekeep/dist/src/cli/lorekeep.cjs" };

        /// <summary>More flags of `serve`.</summary>
        public string[] Arguments = { };

        /// <summary>As `--config`; it must exist.</summary>
        public string Config;

        /// <summary>As `--data-dir`: where everything is written.</summary>
        public string DataFolder;

        /// <summary>Until the server listens.</summary>
        public int StartMs = 30000;
    }

    /// <summary>A server in a process of its own, which ends with this process, however it ends. Nothing restarts it.</summary>
    public sealed class Server : IDisposable
    {
        const int Sigterm = 15;
        const int LogLines = 50;

        /// <summary>Longest wait for the rest of the log of a server that has ended.</summary>
        const int LogMs = 5000;

        readonly Process process;
        readonly Thread reader;
        readonly Queue<string> log = new Queue<string>();

        public int Port { get; private set; }

        /// <summary>The secret of this server; null if its config names an `access_token_file`.</summary>
        public string AccessToken { get; private set; }

        public string Version { get; private set; }

        /// <summary>What the server warned of while it started.</summary>
        public List<string> Warnings { get; } = new List<string>();

        /// <summary>Starts a server and waits, on another thread, until it listens. Throws ServerStartException, and leaves no process then.</summary>
        public static Task<Server> StartAsync(ServerOptions options = null)
        {
            return Task.Run(() => new Server(options ?? new ServerOptions()));
        }

        Server(ServerOptions options)
        {
            if (options.Config != null && !File.Exists(options.Config)) throw new ServerStartException(Path.GetFullPath(options.Config) + " does not exist");
            process = new Process
            {
                StartInfo = new ProcessStartInfo(options.Program, ArgumentsOf(options))
                {
                    UseShellExecute = false,
                    CreateNoWindow = true,
                    RedirectStandardOutput = true,
                    RedirectStandardError = true,
                    StandardOutputEncoding = Encoding.UTF8,
                    StandardErrorEncoding = Encoding.UTF8,
                },
            };
            try
            {
                process.Start();
            }
            catch (Exception error)
            {
                throw new ServerStartException(error.Message, error);
            }
            reader = new Thread(ReadLog) { IsBackground = true, Name = "lorekeep log" };
            reader.Start();
            try
            {
                var first = Task.Run(() => process.StandardOutput.ReadLine());
                if (!first.Wait(options.StartMs)) throw new ServerStartException("it did not listen within " + options.StartMs + " ms\n" + Log);
                Read(first.Result);
            }
            catch (Exception error)
            {
                Kill();
                if (error is ServerStartException) throw;
                throw new ServerStartException(error.Message + "\n" + Log, error);
            }
        }

        /// <summary>The last lines of its log.</summary>
        public string Log
        {
            get
            {
                lock (log) return string.Join("\n", log);
            }
        }

        public bool IsRunning => !process.HasExited;

        /// <summary>Stops the server as SIGTERM does (on Windows, at once), and gives its exit status at its end.</summary>
        public Task<int> StopAsync()
        {
            return Task.Run(() =>
            {
                if (!process.HasExited)
                {
                    if (Path.DirectorySeparatorChar == '/') SendSignal(process.Id, Sigterm);
                    else process.Kill();
                }
                process.WaitForExit();
                return process.ExitCode;
            });
        }

        /// <summary>Stops the server and waits for its end. Twice is fine.</summary>
        public void Dispose()
        {
            StopAsync().Wait();
        }

        [DllImport("libc", EntryPoint = "kill")]
        static extern int SendSignal(int process, int signal);

        void Kill()
        {
            try
            {
                process.Kill();
            }
            catch (InvalidOperationException)
            {
                // It has ended.
            }
            process.WaitForExit();
        }

        /// <summary>To its end: a full pipe would hold up the server.</summary>
        void ReadLog()
        {
            string line;
            while ((line = process.StandardError.ReadLine()) != null)
            {
                lock (log)
                {
                    log.Enqueue(line);
                    if (log.Count > LogLines) log.Dequeue();
                }
            }
        }

        void Read(string line)
        {
            if (line == null)
            {
                process.WaitForExit();
                reader.Join(LogMs);
                throw new ServerStartException("it ended\n" + Log);
            }
            if (!(Json.Parse(line) is Dictionary<string, object> ready) || !(ready.TryGetValue("port", out var port) && port is long number))
                throw new ServerStartException("its first line is no lorekeep server's: " + line);
            Port = (int)number;
            if (ready.TryGetValue("token", out var token)) AccessToken = token as string;
            if (ready.TryGetValue("version", out var version)) Version = version as string;
            if (!ready.TryGetValue("warnings", out var warnings)) return;
            foreach (var warning in (List<object>)warnings) Warnings.Add(warning as string);
        }

        static string ArgumentsOf(ServerOptions options)
        {
            var all = new List<string>(options.ProgramArguments) { "serve", "--parent-pid", Process.GetCurrentProcess().Id.ToString(), "--port", "0" };
            if (options.Config != null) all.AddRange(new[] { "--config", options.Config });
            if (options.DataFolder != null) all.AddRange(new[] { "--data-dir", options.DataFolder });
            all.AddRange(options.Arguments);
            return string.Join(" ", all.ConvertAll(Quoted));
        }

        /// <summary>An argument as command lines of Windows have it, and Mono elsewhere.</summary>
        static string Quoted(string argument)
        {
            var quoted = new StringBuilder("\"");
            var slashes = 0;
            foreach (var c in argument)
            {
                if (c == '"') quoted.Append('\\', slashes + 1);
                slashes = c == '\\' ? slashes + 1 : 0;
                quoted.Append(c);
            }
            return quoted.Append('\\', slashes).Append('"').ToString();
        }
    }
}
