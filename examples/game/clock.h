/* Time and sleep, of POSIX and Windows. */
#ifndef GAME_CLOCK_H
#define GAME_CLOCK_H

/* Seconds since some moment; never goes back. */
double clock_now(void);
/* Returns at `time` or later; at once if it has passed. */
void clock_sleep_until(double time);

#endif
