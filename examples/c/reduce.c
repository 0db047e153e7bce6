/* SPDX-License-Identifier: BSD-3-Clause */
/* Leases the memory of a GPU for one section of a program, and gives it back. */
#include <gputest/gputest.h>

#include <stdio.h>
#include <string.h>

static int report(int result) {
  fprintf(stderr, "reduce: %s\n", gputest_message());
  return result == GPUTEST_SKIP ? 77 : 1;
}

static int run(gputest_session* session) {
  gputest_request request;
  gputest_findings findings;
  gputest_device device;
  size_t i;
  int result;

  memset(&request, 0, sizeof request); /* what CTest asks for */
  request.size = sizeof request;
  result = gputest_enter(session, &request, 1, NULL); /* before the first CUDA call: it chooses the device */
  if (result == GPUTEST_OK) {
    result = gputest_begin(session, &request, "reduce", NULL); /* waits until there is room */
  }
  if (result != GPUTEST_OK) {
    return report(result);
  }
  if (gputest_get_device(session, 0, &device) == GPUTEST_OK) {
    printf("reduce: on %s\n", device.uuid);
  }
  /* ... allocate, launch, compare, free ... */
  findings.size = sizeof findings;
  if (gputest_end(session, "reduce", &findings) != GPUTEST_OK) {
    return report(GPUTEST_ERROR);
  }
  for (i = 0; i < findings.problem_count; ++i) {
    fprintf(stderr, "reduce: %s\n", findings.problems[i]);
  }
  return findings.problem_count == 0 ? 0 : 1;
}

int main(void) {
  gputest_session* session = NULL;
  int result = gputest_open(NULL, &session);
  result = result == GPUTEST_OK ? run(session) : report(result);
  gputest_close(session);
  return gputest_report_end(result); /* an entry whose process ends without saying so fails */
}
