using System.Threading.Tasks;
using UnityEngine;

namespace Lorekeep
{
    /// <summary>
    /// A client in Unity's player loop: replies and events come within Update(), on the main thread, also where that thread has no
    /// SynchronizationContext. Its connection ends with the object.
    /// </summary>
    public sealed class LorekeepBehaviour : MonoBehaviour
    {
        public string Host = "127.0.0.1";
        public int Port = 9100;
        public string AccessToken = "";

        /// <summary>Set it before Awake() ends, as a prefab or in an inactive object, to start a server of the game's own.</summary>
        public ServerOptions ServerOptions;

        Server server;

        /// <summary>The client; null until Ready has completed, if a server is started first.</summary>
        public Client Client { get; private set; }

        /// <summary>Completes when the server, if any, listens. Await it; do not wait for it.</summary>
        public Task Ready { get; private set; }

        void Awake()
        {
            DontDestroyOnLoad(gameObject);
            Ready = Connect();
        }

        async Task Connect()
        {
            if (ServerOptions != null)
            {
                server = await Server.StartAsync(ServerOptions);
                Host = "127.0.0.1";
                Port = server.Port;
                AccessToken = server.AccessToken;
                if (this == null)
                {
                    // Destroyed meanwhile.
                    server.Dispose();
                    return;
                }
            }
            var options = new ClientOptions { Polled = true, Reconnect = new ReconnectPolicy() };
            if (!string.IsNullOrEmpty(AccessToken)) options.AccessToken = AccessToken;
            Client = new Client(Host, Port, options);
        }

        void Update()
        {
            if (Client != null) Client.Poll();
        }

        void OnDestroy()
        {
            if (Client != null) Client.Dispose();
            if (server != null) server.Dispose();
        }
    }
}
