/* A server in a process of its own. */

#define LK_LINE_BYTES 65536

struct lk_server {
  int port;
  char* access_token;
  int status;
  bool has_ended;
#ifdef _WIN32
  HANDLE process;
  HANDLE output;
#else
  pid_t process;
  int output;
#endif
};

#ifdef _WIN32

/* Appends an argument as command lines of Windows have it. */
static void lk_append_argument(lk_writer* line, const char* argument) {
  size_t slashes = 0;
  lk_append_text(line, line->length == 0 ? "\"" : " \"");
  for (const char* at = argument; *at != '\0'; at++) {
    for (size_t i = 0; *at == '"' && i <= slashes; i++) lk_append(line, "\\", 1);
    slashes = *at == '\\' ? slashes + 1 : 0;
    lk_append(line, at, 1);
  }
  for (; slashes > 0; slashes--) lk_append(line, "\\", 1);
  lk_append_text(line, "\"");
}

static bool lk_spawn(lk_server* server, const char* const* arguments) {
  lk_writer line;
  HANDLE output = NULL;
  SECURITY_ATTRIBUTES inherited = {sizeof inherited, NULL, TRUE};
  STARTUPINFOW start;
  PROCESS_INFORMATION made;
  memset(&line, 0, sizeof line);
  memset(&start, 0, sizeof start);
  for (; *arguments != NULL; arguments++) lk_append_argument(&line, *arguments);
  int size = line.failed ? 0 : MultiByteToWideChar(CP_UTF8, 0, line.text, -1, NULL, 0);
  wchar_t* wide = size > 0 ? (wchar_t*)malloc((size_t)size * sizeof(wchar_t)) : NULL;
  if (wide != NULL) MultiByteToWideChar(CP_UTF8, 0, line.text, -1, wide, size);
  lk_writer_free(&line);
  if (wide == NULL || !CreatePipe(&server->output, &output, &inherited, 0)) {
    free(wide);
    return false;
  }
  SetHandleInformation(server->output, HANDLE_FLAG_INHERIT, 0);
  start.cb = sizeof start;
  start.dwFlags = STARTF_USESTDHANDLES;
  start.hStdOutput = output;
  start.hStdError = GetStdHandle(STD_ERROR_HANDLE);
  bool started = CreateProcessW(NULL, wide, NULL, NULL, TRUE, CREATE_NO_WINDOW, NULL, NULL, &start, &made);
  free(wide);
  CloseHandle(output);
  if (!started) {
    CloseHandle(server->output);
    return false;
  }
  CloseHandle(made.hThread);
  server->process = made.hProcess;
  return true;
}

/* Bytes of its output; 0 at the end, -1 if none came in time. */
static int lk_read_output(lk_server* server, char* to, int most, int timeout_ms) {
  DWORD available = 0, got = 0;
  int64_t until = lk_now() + timeout_ms;
  while (PeekNamedPipe(server->output, NULL, 0, NULL, &available, NULL)) {
    if (available > 0) return ReadFile(server->output, to, (DWORD)most, &got, NULL) ? (int)got : 0;
    if (lk_now() >= until) return -1;
    Sleep(5);
  }
  return 0;
}

static void lk_end_process(lk_server* server, bool kills) {
  (void)kills;
  TerminateProcess(server->process, 1);
}

static bool lk_wait_process(lk_server* server, bool waits) {
  DWORD status = 0;
  if (WaitForSingleObject(server->process, waits ? INFINITE : 0) != WAIT_OBJECT_0) return false;
  GetExitCodeProcess(server->process, &status);
  server->status = (int)status;
  return true;
}

static void lk_close_process(lk_server* server) {
  CloseHandle(server->output);
  CloseHandle(server->process);
}

static long lk_own_pid(void) {
  return (long)GetCurrentProcessId();
}

#else

static bool lk_spawn(lk_server* server, const char* const* arguments) {
  int output[2];
  if (pipe(output) != 0) return false;
  fcntl(output[0], F_SETFD, FD_CLOEXEC);
  server->output = output[0];
  server->process = fork();
  if (server->process == 0) {
    /* Only calls that are safe after fork() in a program with threads. */
    int none = open("/dev/null", O_RDONLY);
    if (none >= 0) dup2(none, 0);
    dup2(output[1], 1);
    close(output[1]);
    execvp(arguments[0], (char* const*)(uintptr_t)arguments);
    _exit(127);
  }
  close(output[1]);
  if (server->process > 0) return true;
  close(output[0]);
  return false;
}

static int lk_read_output(lk_server* server, char* to, int most, int timeout_ms) {
  struct pollfd waited = {server->output, POLLIN, 0};
  int ready;
  do ready = poll(&waited, 1, timeout_ms);
  while (ready < 0 && errno == EINTR);
  return ready == 0 ? -1 : (int)read(server->output, to, (size_t)most);
}

static void lk_end_process(lk_server* server, bool kills) {
  kill(server->process, kills ? SIGKILL : SIGTERM);
}

static bool lk_wait_process(lk_server* server, bool waits) {
  int status = 0;
  pid_t ended;
  do ended = waitpid(server->process, &status, waits ? 0 : WNOHANG);
  while (ended < 0 && errno == EINTR);
  if (ended == 0) return false;
  server->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return true;
}

static void lk_close_process(lk_server* server) {
  close(server->output);
}

static long lk_own_pid(void) {
  return (long)getpid();
}

#endif

/* Reads the line that the server prints when it listens. NULL: it came. */
static const char* lk_read_ready(lk_server* server, int timeout_ms) {
  lk_buffer line;
  const char* problem = "there is no memory for the first line of the server";
  int64_t until = lk_now() + timeout_ms;
  memset(&line, 0, sizeof line);
  while (lk_reserve(&line, 1024) && line.end < LK_LINE_BYTES) {
    int64_t left = until - lk_now();
    int got = lk_read_output(server, line.bytes + line.end, 1024, left < 0 ? 0 : (int)left);
    problem = got < 0 ? "the server did not listen in time" : "the server ended before it listened";
    if (got <= 0) break;
    line.end += (size_t)got;
    const char* end = (const char*)memchr(line.bytes, '\n', line.end);
    problem = "the first line is no lorekeep server's";
    if (end == NULL) continue;
    lk_document* ready = lk_parse(line.bytes, (size_t)(end - line.bytes));
    server->port = (int)lk_need_int(lk_root(ready), "port");
    server->access_token = lk_copy(lk_take_string(lk_root(ready), "token"));
    lk_document_free(ready);
    if (server->port > 0) problem = NULL;
    break;
  }
  free(line.bytes);
  return problem;
}

/* A list of arguments that ends with NULL, to be freed; its strings are the given ones. */
static const char** lk_arguments(const char* const* program, const char* const* own, const char* const* flags) {
  const char* const* lists[3] = {program, own, flags};
  size_t count = 1;
  for (int i = 0; i < 3; i++)
    for (const char* const* at = lists[i]; at != NULL && *at != NULL; at++) count++;
  const char** all = (const char**)calloc(count, sizeof(char*));
  size_t end = 0;
  for (int i = 0; i < 3 && all != NULL; i++)
    for (const char* const* at = lists[i]; at != NULL && *at != NULL; at++) all[end++] = *at;
  return all;
}

lk_server* lk_server_start(const char* const* program, const char* const* flags, int timeout_ms, char* problem,
                           size_t problem_size) {
  char pid[32];
  snprintf(pid, sizeof pid, "%ld", lk_own_pid());
  const char* own[] = {"serve", "--parent-pid", pid, "--port", "0", NULL};
  const char** arguments = lk_arguments(program, own, flags);
  lk_server* server = (lk_server*)calloc(1, sizeof(lk_server));
  const char* why = "there is no memory for a server";
  bool started = arguments != NULL && server != NULL && lk_spawn(server, arguments);
  if (started)
    why = lk_read_ready(server, timeout_ms);
  else if (server != NULL)
    why = "the program of the server cannot be run";
  free(arguments);
  if (why == NULL) return server;
  if (problem_size > 0) snprintf(problem, problem_size, "%s", why);
  if (started) {
    lk_end_process(server, true);
    lk_server_stop(server);
  } else {
    free(server);
  }
  return NULL;
}

int lk_server_port(const lk_server* server) {
  return server->port;
}

const char* lk_server_access_token(const lk_server* server) {
  return server->access_token;
}

bool lk_server_is_running(lk_server* server) {
  if (!server->has_ended) server->has_ended = lk_wait_process(server, false);
  return !server->has_ended;
}

int lk_server_stop(lk_server* server) {
  if (server == NULL) return 0;
  if (lk_server_is_running(server)) {
    lk_end_process(server, false);
    lk_wait_process(server, true);
  }
  int status = server->status;
  lk_close_process(server);
  free(server->access_token);
  free(server);
  return status;
}
