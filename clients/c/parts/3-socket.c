/* Sockets that never block, of POSIX and of Winsock. */

#ifdef _WIN32

typedef SOCKET lk_socket;
#define LK_NO_SOCKET INVALID_SOCKET

static bool lk_sockets_ready(void) {
  WSADATA data;
  return WSAStartup(MAKEWORD(2, 2), &data) == 0;
}
static void lk_sockets_done(void) {
  WSACleanup();
}
static void lk_socket_close(lk_socket handle) {
  closesocket(handle);
}
static bool lk_would_block(void) {
  return WSAGetLastError() == WSAEWOULDBLOCK;
}
static bool lk_socket_unblock(lk_socket handle) {
  u_long yes = 1;
  return ioctlsocket(handle, FIONBIO, &yes) == 0;
}
static int64_t lk_now(void) {
  return (int64_t)GetTickCount64();
}
static void lk_sleep(int ms) {
  Sleep((DWORD)ms);
}
#define lk_poll_socket WSAPoll
typedef WSAPOLLFD lk_pollfd;
#define LK_SEND_FLAGS 0

#else

typedef int lk_socket;
#define LK_NO_SOCKET (-1)

static bool lk_sockets_ready(void) {
  return true;
}
static void lk_sockets_done(void) {}
static void lk_socket_close(lk_socket handle) {
  close(handle);
}
static bool lk_would_block(void) {
  return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINPROGRESS || errno == EINTR;
}
static bool lk_socket_unblock(lk_socket handle) {
  int flags = fcntl(handle, F_GETFL, 0);
  return flags >= 0 && fcntl(handle, F_SETFL, flags | O_NONBLOCK) == 0 && fcntl(handle, F_SETFD, FD_CLOEXEC) == 0;
}
/* Milliseconds of a clock that only moves forward. */
static int64_t lk_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}
static void lk_sleep(int ms) {
  poll(NULL, 0, ms);
}
#define lk_poll_socket poll
typedef struct pollfd lk_pollfd;
#ifdef MSG_NOSIGNAL
#define LK_SEND_FLAGS MSG_NOSIGNAL
#else
#define LK_SEND_FLAGS 0
#endif

#endif

/* Begins to connect to an address. LK_NO_SOCKET: it refuses already. */
static lk_socket lk_socket_connect(const struct addrinfo* address) {
  lk_socket handle = socket(address->ai_family, address->ai_socktype, address->ai_protocol);
  if (handle == LK_NO_SOCKET) return LK_NO_SOCKET;
  int yes = 1;
  setsockopt(handle, IPPROTO_TCP, TCP_NODELAY, (const char*)&yes, sizeof yes);
#ifdef SO_NOSIGPIPE
  setsockopt(handle, SOL_SOCKET, SO_NOSIGPIPE, (const char*)&yes, sizeof yes);
#endif
  if (lk_socket_unblock(handle) &&
      (connect(handle, address->ai_addr, (int)address->ai_addrlen) == 0 || lk_would_block()))
    return handle;
  lk_socket_close(handle);
  return LK_NO_SOCKET;
}

/* Whether a connection that was begun has failed. */
static bool lk_socket_failed(lk_socket handle) {
  int error = 0;
#ifdef _WIN32
  int size = sizeof error;
#else
  socklen_t size = sizeof error;
#endif
  return getsockopt(handle, SOL_SOCKET, SO_ERROR, (char*)&error, &size) != 0 || error != 0;
}
