using System;
using System.Collections.Generic;
using System.Globalization;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;
using Lorekeep;

/// <summary>What every client is proven to do, by the client in C#: Scenarios.exe MODE CULTURE SEED PORT CUTTABLE_PORT NAME=PORT...</summary>
static class Scenarios
{
    const string Weird = "öfter 日本語 🐝 \"quoted\" back\\slash\ttab\u2028 İıſ";
    static bool polled;
    static int mainThread;

    static void Check(bool condition, string what)
    {
        if (!condition) throw new Exception("not so: " + what);
    }

    /// <summary>Waits for a task; a polled client gives its result in a loop, as that of a game.</summary>
    static T Wait<T>(Client client, Task<T> task)
    {
        while (polled && !task.IsCompleted)
        {
            if (client.Poll() == 0) Thread.Yield();
        }
        return task.GetAwaiter().GetResult();
    }

    static void Wait(Client client, Func<Task> scenario)
    {
        Wait(client, Finish(scenario));
    }

    static async Task<bool> Finish(Func<Task> scenario)
    {
        await scenario();
        return true;
    }

    static Dictionary<string, object> Object(params object[] pairs)
    {
        var made = new Dictionary<string, object>();
        for (var i = 0; i < pairs.Length; i += 2) made[(string)pairs[i]] = pairs[i + 1];
        return made;
    }

    static Task<Agent> Talker(Session session)
    {
        return session.CreateAgentAsync(new CreateAgentFields { Graph = new Graph { Nodes = new object[] { new GenerateNode { Id = "talker", Type = "generate" } } } });
    }

    static Task Make(Session session, IEnumerable<Record> records, params FieldDefinition[] fields)
    {
        var given = new CreateEmbeddedStringStorageFields { Name = "docs", Records = records, EmbeddingModel = "tiny" };
        if (fields.Length > 0) given.Fields = fields;
        return session.CreateEmbeddedStringStorageAsync(given);
    }

    static async Task<ServerException> Refusal(Func<Task> call)
    {
        try
        {
            await call();
        }
        catch (ServerException error)
        {
            return error;
        }
        throw new Exception("it was not refused");
    }

    static async Task CreatesASession(Client client)
    {
        Check((await client.Greeting).Server == "lorekeep" && !client.IsLost, "the greeting");
        var session = await client.CreateSessionAsync();
        Check((await client.StatusAsync()).Sessions >= 1, "a session is counted");
        await session.DestroySessionAsync();
    }

    static async Task SearchesAStorageOfRecords(Client client)
    {
        var session = await client.CreateSessionAsync();
        var bees = new Record { Id = "b", Text = "Honey bees dance in the hive", Metadata = Object("year", 1999) };
        var ice = new Record { Id = "g", Text = "Glaciers grind valleys", Metadata = Object("year", 2005) };
        await Make(session, new[] { bees, ice }, new FieldDefinition { Name = "year", Type = "int", Optional = true });
        var found = await session.SearchAsync(new SearchEmbeddedStringStorageFields { Name = "docs", Text = "bees", Mode = "lexical", TopK = 1 });
        Check(found.Hits.Count == 1 && found.Hits[0].Id == "b" && (long)found.Hits[0].Metadata["year"] == 1999, "the hit");
        var filter = Object(">", new object[] { Object("knowledge", "year"), 2000 });
        var later = await session.SearchAsync(new SearchEmbeddedStringStorageFields { Name = "docs", Text = "bees", Filter = filter, Threshold = 1.5 });
        // A distance that is cut at the decimal point would be an integer.
        Check(later.Hits.Single().Id == "g" && later.Hits[0].Distance % 1 > 0, "the later hit");
    }

    static async Task StreamsATurn(Client client)
    {
        var agent = await Talker(await client.CreateSessionAsync());
        var events = new List<JsonView>();
        var complete = await agent.TurnAsync("hello", null, frame =>
        {
            Check(!polled || Thread.CurrentThread.ManagedThreadId == mainThread, "events come on the thread that polls");
            events.Add(frame);
        });
        var text = string.Concat(events.OfType<TurnText>().Select(piece => piece.Text));
        Check(events[0] is TurnStarted && events.Last() is TurnComplete, "the order of events");
        Check(text == "one two three" && complete.Text == text && complete.Status == "completed", text);
        try
        {
            await agent.TurnAsync("hello", null, frame => { throw new InvalidOperationException("mine"); });
            Check(false, "an error of a callback is thrown");
        }
        catch (InvalidOperationException)
        {
        }
    }

    static async Task CancelsATurn(Client client)
    {
        var agent = await Talker(await client.CreateSessionAsync());
        using (var cancellation = new CancellationTokenSource())
        {
            var complete = await agent.TurnAsync("hang", null, frame =>
            {
                if (frame is TurnText) cancellation.Cancel();
            }, cancellation.Token);
            Check(complete.Status == "cancelled", complete.Status);
            Check((await agent.TurnAsync("hang", null, null, cancellation.Token)).Status == "cancelled", "cancelled before it began");
        }
        Check((await agent.TurnAsync("hello")).Status == "completed", "the next turn");
    }

    static async Task TellsErrorsByCode(Client client)
    {
        var session = await client.CreateSessionAsync();
        var unknown = await Refusal(() => session.SearchAsync(new SearchEmbeddedStringStorageFields { Name = "nothing", Text = "x" }));
        Check(unknown.Code == Code.StorageNotFound && unknown.Remedy != "" && unknown.Message.Contains("nothing"), unknown.Message);
        var field = await Refusal(() => session.SearchAsync(new SearchEmbeddedStringStorageFields { Name = "nothing", Text = "x", TopK = 0 }));
        Check(field.Code == Code.InvalidField && (string)field.Details["path"] == "top_k", field.Message);
        session.SendAudio(77, 0, new byte[2]);
        await client.PingAsync();
        foreach (var wrong in new object[] { double.NaN, new object(), "\ud800" })
        {
            try
            {
                await session.SearchAsync(new SearchEmbeddedStringStorageFields { Name = "nothing", Text = "x", Filter = wrong });
                Check(false, "a value that JSON lacks is refused");
            }
            catch (ArgumentException)
            {
            }
        }
        await client.PingAsync();
    }

    static async Task UpdatesAndForgetsRecords(Client client)
    {
        var session = await client.CreateSessionAsync();
        await session.CreateEmbeddedStringStorageAsync(new CreateEmbeddedStringStorageFields { Name = "docs", Strings = new[] { "a bee", "a glacier" }, EmbeddingModel = "tiny" });
        var update = new UpdateEmbeddedStringStorageFields { Name = "docs", Add = new[] { new Record { Id = "x", Text = "a loaf" } }, Remove = new[] { "0" } };
        var changed = await session.UpdateRecordsAsync(update);
        Check(changed.Added == 1 && changed.Removed == 1 && changed.RecordCount == 2, "the change");
        update.Remove = null;
        Check((await Refusal(() => session.UpdateRecordsAsync(update))).Code == 8007, "an id that exists");
        var forgotten = await session.ForgetRecordsAsync(new ForgetEmbeddedStringStorageFields { Name = "docs", Ids = new[] { "x" } });
        Check(forgotten.Forgotten == 1, "forgotten");
        var listed = await session.ListRecordsAsync(new ListEmbeddedStringStorageFields { Name = "docs" });
        Check(listed.Records.Single().Id == "1", "the rest");
        var got = await session.GetRecordsAsync(new GetEmbeddedStringStorageFields { Name = "docs", Ids = new[] { "1", "x" } });
        Check(got.Missing.Single() == "x", "the missing one");
    }

    static async Task SendsAndReceivesALargeFrame(Client client)
    {
        var session = await client.CreateSessionAsync();
        var blobs = Enumerable.Range(0, 16).ToDictionary(index => index.ToString(CultureInfo.InvariantCulture), index => string.Concat(Enumerable.Repeat(index + "é", 100000)));
        var records = blobs.Select(blob => new Record { Id = blob.Key, Text = "bees", Metadata = Object("blob", blob.Value) });
        await Make(session, records, new FieldDefinition { Name = "blob", Type = "string", Optional = true, Filterable = false });
        var got = await session.GetRecordsAsync(new GetEmbeddedStringStorageFields { Name = "docs", Ids = blobs.Keys });
        Check(got.Records.Count == 16 && got.Records.All(record => (string)record.Metadata["blob"] == blobs[record.Id]), "the blobs");
    }

    static async Task KeepsTextThatIsNotASCII(Client client)
    {
        var session = await client.CreateSessionAsync();
        await Make(session, new[] { new Record { Id = Weird, Text = Weird } });
        var found = await session.SearchAsync(new SearchEmbeddedStringStorageFields { Name = "docs", Text = "öfter", Mode = "lexical" });
        Check(found.Hits.Single().Id == Weird && found.Hits[0].Text == Weird, "the record");
        var agent = await Talker(session);
        Check((await agent.TurnAsync("echo " + Weird)).Text == Weird, "the reply");
    }

    static async Task KeepsIntegersOf64Bits(Client client)
    {
        var session = await client.CreateSessionAsync();
        var values = new[] { long.MaxValue, long.MaxValue - 1, long.MinValue, (1L << 53) + 1 };
        var records = values.Select(value => new Record { Id = value.ToString(CultureInfo.InvariantCulture), Text = "bees", Metadata = Object("n", value) });
        await Make(session, records, new FieldDefinition { Name = "n", Type = "int", Optional = true });
        foreach (var value in values)
        {
            var filter = Object("==", new object[] { Object("knowledge", "n"), value });
            var found = await session.SearchAsync(new SearchEmbeddedStringStorageFields { Name = "docs", Text = "bees", Filter = filter });
            var text = value.ToString(CultureInfo.InvariantCulture);
            Check(found.Hits.Single().Id == text && (string)found.Hits[0].Metadata["n"] == text, text);
        }
        Check((long)Json.Parse(long.MinValue.ToString(CultureInfo.InvariantCulture)) == long.MinValue, "an integer that is read");
    }

    static async Task RunsTwoTurnsAtOnce(Client client)
    {
        var session = await client.CreateSessionAsync();
        var slow = await Talker(session);
        var quick = await Talker(session);
        using (var cancellation = new CancellationTokenSource())
        {
            var hanging = slow.TurnAsync("hang", null, null, cancellation.Token);
            Check((await quick.TurnAsync("hello")).Text == "one two three" && !hanging.IsCompleted, "the quick one");
            cancellation.Cancel();
            Check((await hanging).Status == "cancelled", "the slow one");
        }
    }

    static async Task Throttles(Client client)
    {
        foreach (var level in new[] { 0.5, 0 })
        {
            await client.ReportThrottleAsync(new ThrottleReportFields { Level = level });
            Check((await client.StatusAsync()).Throttle.Equals(level), "the level");
        }
    }

    static async Task ForgetsWhatIsConfirmed(Client client)
    {
        var session = await client.CreateSessionAsync();
        var nodes = new object[]
        {
            new GenerateNode { Id = "talker", Type = "generate", Params = new GenerateParams { Memory = "keep" } },
            new RememberNode { Id = "keep", Type = "remember", Params = new RememberParams { Storage = "memory", EmbeddingModel = "tiny", Condition = " " } },
        };
        var agent = await session.CreateAgentAsync(new CreateAgentFields { Graph = new Graph { Nodes = nodes } });
        await session.UpdateRecordsAsync(new UpdateEmbeddedStringStorageFields { Name = "memory", Add = new[] { new Record { Id = "bees", Text = "Bees dance." } } });
        var complete = await agent.TurnAsync("forget Bees dance", null, frame =>
        {
            if (frame is TurnForget asked) Ignore(session.ConfirmForgetAsync(new ConfirmForgetFields { ForgetId = asked.ForgetId, Confirm = true, Ids = new[] { "bees" } }));
        });
        Check(complete.Memory.Single().Forget == "confirmed" && complete.Memory[0].Forgotten.Single() == "bees", "the record");
    }

    static void Ignore(Task task)
    {
    }

    static readonly List<ConnectionState> states = new List<ConnectionState>();

    static async Task MakesEverythingAgainOnAnotherConnection(Client client)
    {
        await (await client.CreateSessionAsync()).DestroyAsync();
        var session = await client.CreateSessionAsync();
        var id = session.Id;
        await session.CreateEmbeddedStringStorageAsync(new CreateEmbeddedStringStorageFields { Name = "docs", Strings = new[] { "a bee", "a glacier" }, EmbeddingModel = "tiny" });
        await session.UpdateRecordsAsync(new UpdateEmbeddedStringStorageFields { Name = "docs", Add = new[] { new Record { Id = "x", Text = "a loaf" } }, Replace = new[] { new Record { Id = "1", Text = "a lake" } } });
        await session.ForgetRecordsAsync(new ForgetEmbeddedStringStorageFields { Name = "docs", Ids = new[] { "0" } });
        var agent = await Talker(session);
        var other = await Talker(session);
        Check((await agent.TurnAsync("hello")).Status == "completed", "the first turn");
        try
        {
            await other.TurnAsync("hang", null, frame =>
            {
                if (frame is TurnStarted) Console.WriteLine("DROP");
            });
            Check(false, "the turn ends");
        }
        catch (ConnectionLostException)
        {
        }
        Check((await agent.TurnAsync("recall")).Text == "hello|recall", "the history");
        Check(session.Id != id && !client.IsLost, "another session");
        var listed = await session.ListRecordsAsync(new ListEmbeddedStringStorageFields { Name = "docs" });
        Check(string.Join("|", listed.Records.Select(record => record.Id + record.Text)) == "xa loaf|1a lake", "the records");
        lock (states) Check(states.SequenceEqual(new[] { ConnectionState.Reconnecting, ConnectionState.Connected }), string.Join(" ", states));
    }

    static async Task StartsAndEndsAServer()
    {
        var options = new ServerOptions
        {
            Program = Environment.GetEnvironmentVariable("CHILD_NODE"),
            ProgramArguments = new[] { Environment.GetEnvironmentVariable("CHILD_PROGRAM") },
            Config = Environment.GetEnvironmentVariable("CHILD_CONFIG"),
            DataFolder = Environment.GetEnvironmentVariable("CHILD_DATA"),
            StartMs = 300000,
        };
        using (var server = await Server.StartAsync(options))
        {
            Check(server.IsRunning && server.Warnings.Count == 0, "it runs");
            using (var client = new Client("127.0.0.1", server.Port, new ClientOptions { AccessToken = server.AccessToken })) await client.CreateSessionAsync();
            using (var client = new Client("127.0.0.1", server.Port)) Check((await Refusal(() => client.CreateSessionAsync())).Code == Code.AccessTokenMissing, "a token");
            var status = await server.StopAsync();
            Check(status == 0 && !server.IsRunning, "its end: status " + status + ", running: " + server.IsRunning + "\n" + server.Log);
        }
        options.Config = "absent.json";
        Check((await StartFailure(options)).Contains("absent.json does not exist"), "no config");
        options.Config = null;
        options.DataFolder = null;
        options.Arguments = new[] { "--no-such-flag" };
        var failure = await StartFailure(options);
        Check(failure.Contains("no-such-flag"), "the log: " + failure);
        options.Program = "no-such-program";
        await StartFailure(options);
    }

    static async Task<string> StartFailure(ServerOptions options)
    {
        try
        {
            (await Server.StartAsync(options)).Dispose();
        }
        catch (ServerStartException error)
        {
            return error.Message;
        }
        throw new Exception("it started");
    }

    static async Task StreamsAsync(Client client)
    {
        var session = await client.CreateSessionAsync();
        var agent = await Talker(session);
        var text = "";
        JsonView last = null;
        var frames = agent.StreamAsync("hello").GetAsyncEnumerator();
        while (await frames.MoveNextAsync())
        {
            last = frames.Current;
            if (last is TurnText piece) text += piece.Text;
        }
        await frames.DisposeAsync();
        Check(text == "one two three" && last is TurnComplete, "the frames");
        var left = agent.StreamAsync("hang").GetAsyncEnumerator();
        Check(await left.MoveNextAsync() && left.Current is TurnStarted, "the first frame");
        await left.DisposeAsync();
        Check((await agent.TurnAsync("hello")).Status == "completed", "the turn that was left is cancelled");
        var failing = agent.StreamAsync("hello", new TurnFields { AsOf = 1.5 }).GetAsyncEnumerator();
        Check((await Refusal(async () => await failing.MoveNextAsync())).Code == Code.InvalidField, "a refused turn");
        await failing.DisposeAsync();
    }

    static async Task SaysThatTheServerWentAway(Client client)
    {
        var session = await client.CreateSessionAsync();
        var agent = await Talker(session);
        var begun = false;
        try
        {
            await agent.TurnAsync("hang", null, frame =>
            {
                if (!(frame is TurnText) || begun) return;
                begun = true;
                Console.WriteLine("DROP");
            });
            Check(false, "the turn ends");
        }
        catch (ConnectionLostException)
        {
            Check(begun && client.IsLost, "lost");
        }
        try
        {
            await session.ListModelsAsync();
            Check(false, "it is answered");
        }
        catch (ConnectionLostException)
        {
        }
    }

    static async Task Hostile(Client client, string name)
    {
        try
        {
            await client.PingAsync();
            Check(name == "drip", "a hostile server is no server");
        }
        catch (ConnectionLostException)
        {
            Check(name != "drip" && name != "mute", name);
        }
        catch (TimeoutException)
        {
            Check(name == "mute", name);
        }
    }

    /// <summary>Damaged JSON is refused with FormatException, or is JSON still.</summary>
    static void SurvivesDamage(int seed)
    {
        const string Whole = "{\"n\":[-1.5e+10,0,9007199254740993],\"t\":\"\\ud83d\\ude00 é\\n\",\"o\":{\"a\":[[],{},null,true,false]}}";
        const string Alphabet = "{}[]\",:\\u0e-+.dD8 tfn\0é";
        var random = new Random(seed);
        var taken = 0;
        for (var round = 0; round < 20000; round++)
        {
            var text = Whole.ToCharArray();
            for (var changes = random.Next(1, 5); changes > 0; changes--) text[random.Next(text.Length)] = Alphabet[random.Next(Alphabet.Length)];
            var length = random.Next(4) == 0 ? random.Next(text.Length) : text.Length;
            try
            {
                var again = Json.Write(Json.Parse(new string(text, 0, length)));
                Check(Json.Write(Json.Parse(again)) == again, again);
                taken++;
            }
            catch (FormatException)
            {
            }
        }
        Check(taken > 100, "some damaged texts are JSON; seed " + seed);
    }

    static Client Open(int port, ClientOptions options = null)
    {
        options = options ?? new ClientOptions();
        options.Polled = polled;
        return new Client("127.0.0.1", port, options);
    }

    static int Main(string[] args)
    {
        polled = args[0] == "polled";
        mainThread = Thread.CurrentThread.ManagedThreadId;
        CultureInfo.DefaultThreadCurrentCulture = Thread.CurrentThread.CurrentCulture = new CultureInfo(args[1]);
        var scenarios = new Dictionary<string, Func<Client, Task>>
        {
            ["creates a session"] = CreatesASession,
            ["searches a storage of records"] = SearchesAStorageOfRecords,
            ["streams a turn"] = StreamsATurn,
            ["cancels a turn"] = CancelsATurn,
            ["tells errors by code"] = TellsErrorsByCode,
            ["updates and forgets records"] = UpdatesAndForgetsRecords,
            ["sends and receives a large frame"] = SendsAndReceivesALargeFrame,
            ["keeps text that is not ASCII"] = KeepsTextThatIsNotASCII,
            ["keeps integers of 64 bits"] = KeepsIntegersOf64Bits,
            ["runs two turns at once"] = RunsTwoTurnsAtOnce,
            ["throttles"] = Throttles,
            ["forgets what is confirmed"] = ForgetsWhatIsConfirmed,
        };
        SurvivesDamage(int.Parse(args[2]));
        using (var client = Open(int.Parse(args[3])))
        {
            foreach (var scenario in scenarios)
            {
                Wait(client, () => scenario.Value(client));
                Console.WriteLine("ok " + scenario.Key);
            }
            Wait(client, () => StreamsAsync(client));
        }
        using (var client = Open(int.Parse(args[4]))) Wait(client, () => SaysThatTheServerWentAway(client));
        using (var client = Open(int.Parse(args[4]))) Wait(client, () => client.CreateSessionAsync());
        Console.WriteLine("ok says that the server went away");
        var again = new ClientOptions { Reconnect = new ReconnectPolicy { MinDelayMs = 10 } };
        again.OnState = (state, _) =>
        {
            lock (states) states.Add(state);
        };
        using (var client = Open(int.Parse(args[4]), again)) Wait(client, () => MakesEverythingAgainOnAnotherConnection(client));
        Console.WriteLine("ok makes everything again on another connection");
        StartsAndEndsAServer().Wait();
        Console.WriteLine("ok starts and ends a server");
        foreach (var given in args.Skip(5).Select(arg => arg.Split('=')))
        {
            var options = new ClientOptions { GreetingMs = given[0] == "silent" ? 300 : 20000, StallMs = given[0] == "stall" ? 200 : 20000, RequestMs = given[0] == "mute" ? 300 : 20000 };
            using (var client = Open(int.Parse(given[1]), options)) Wait(client, () => Hostile(client, given[0]));
            Console.WriteLine("ok hostile " + given[0]);
        }
        return 0;
    }
}
