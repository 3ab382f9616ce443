// Keeps a session, leaves, and resumes it; prints the number of turns. Argument: the port.
using System;
using System.Threading.Tasks;
using Lorekeep;

static class KeptSession
{
    static async Task Run(int port)
    {
        string secret;
        using (var client = new Client("127.0.0.1", port))
        {
            var session = await client.CreateSessionAsync(new CreateSessionFields { Keep = true });
            var node = new GenerateNode { Id = "talker", Type = "generate", Params = new GenerateParams { Model = "talker" } };
            var agent = await session.CreateAgentAsync(new CreateAgentFields { Graph = new Graph { Nodes = new object[] { node } } });
            await agent.TurnAsync("My name is Ann.");
            secret = session.Resume;
        }
        using (var client = new Client("127.0.0.1", port))
        {
            var session = await client.CreateSessionAsync(new CreateSessionFields { Resume = secret });
            if (session.Resumed.Count != 1 || session.Unopened.Count != 0 || session.Resume != secret)
                throw new Exception("the session was not resumed");
            Console.WriteLine((await session.Resumed[0].ExportAsync()).Turns.Count);
        }
    }

    static void Main(string[] arguments)
    {
        Run(int.Parse(arguments[0])).GetAwaiter().GetResult();
    }
}
