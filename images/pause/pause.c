/* Keeps a pod's namespaces open in the local cluster. tools/images links it statically. */
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static void stop(int number) {
  (void)number;
  _exit(0);
}

int main(void) {
  signal(SIGINT, stop);
  signal(SIGTERM, stop);
  for (;;) pause();
}
