/*
  A printer's queue with priorities and cancellation: channels as data.

  Source: written for this collection, to exercise the less usual operations on
  channels (G. J. Holzmann, "The SPIN Model Checker", 2003, chapter 3):

     q !! m          sorted send: m goes before the first larger message
     q ?? p          random receive: the first message that matches p, anywhere
     q ? [p]         poll: is a message at the head that matches?  (no effect)
     q ?? [p]        poll: is there one anywhere?
     q ? <x>         read the head without removing it
     len(q), nfull(q), nempty(q), and eval(x) and _ in patterns

  Users send jobs with a priority (1 is urgent, 2 is not) and their number.
  Sorted send keeps the queue in order.  A user may change his mind and take
  his job back out of the middle of the queue, if it has not been printed yet.

  Checked:
  - the assertions: the printer always prints a most urgent job; each job is
    either printed or cancelled, once; the queue never holds two jobs of one
    user; len, nfull and nempty agree with each other;
  - absence of deadlock: in the end the printer waits for more;
  - `urgent_first`: an urgent job is never overtaken, while it waits, by a job
    that is not urgent;
  - `all_done`: all jobs are printed or cancelled in the end.

  expect deadlock: holds
  expect assertions: holds
  expect states: 279127
  expect ltl urgent_first: holds
  expect ltl all_done: holds

  SPDX-License-Identifier: MIT OR Apache-2.0
*/

#define USERS    3
#define JOBS     2              /* sent by each user, one after the other */
#define URGENT   1
#define NORMAL   2

chan queue = [USERS] of { byte, byte };         /* priority, user         */

byte printed, cancelled;
byte printing;                  /* priority of the job on the printer, or 0 */
bool urgent_waits;              /* ghost: ... when that job was taken       */

active proctype printer()
{
	byte p, u;

end:	do
	:: atomic {
		nempty(queue) ->
		assert(len(queue) > 0);
		queue ? <p, u>;                         /* look at the head   */
		assert(queue ? [eval(p), eval(u)]);
		urgent_waits = queue ?? [URGENT, _];
		queue ? eval(p), eval(u);               /* and take it        */
		assert(p == URGENT || !urgent_waits);
		printing = p
	   };
	   atomic { printed++; assert(printed + cancelled <= USERS * JOBS) };
	   atomic { printing = 0; urgent_waits = false; p = 0; u = 0 }
	od
}

active [USERS] proctype user()
{
	byte jobs, p;

	do
	:: jobs < JOBS ->
	   atomic {
		jobs++;
		if
		:: p = URGENT
		:: p = NORMAL
		fi
	   };
	   atomic {
		nfull(queue) ->
		assert(!(queue ?? [_, eval(_pid)]) && len(queue) < USERS);
		queue !! p, _pid
	   };

	   /* wait until it is printed, or change your mind */
	   if
	   :: !(queue ?? [eval(p), eval(_pid)])
	   :: atomic { queue ?? eval(p), eval(_pid) -> cancelled++ }
	   fi;
	   p = 0
	:: else -> break
	od
}

ltl urgent_first { [] !(printing == NORMAL && urgent_waits) }
ltl all_done     { <> (printed + cancelled == USERS * JOBS) }
