/*
  Priority inheritance, which cured Mars Pathfinder.

  Source: L. Sha, R. Rajkumar and J. P. Lehoczky, "Priority inheritance
  protocols: an approach to real-time synchronization", IEEE Transactions on
  Computers 39(9), 1990.

  As pathfinder_inversion.pml, but a task that holds the mutex inherits the
  priority of the task that is blocked on it.  While the high task waits, the
  low one runs with high priority, and the medium one cannot get in between.
  On the spacecraft this was a matter of setting one option of the mutex.

  Checked:
  - the assertion in the medium task: it never computes while the high task is
    blocked.  It holds now;
  - absence of deadlock;
  - `unblocked`: a blocked high task will be ready again.  It holds without any
    fairness: the timer can wake up each idle task only once, and then only
    the owner of the mutex can run;
  - `low_finishes`: the low task, once ready, will be idle again.  Violated, also
    under weak fairness.  That is no inversion but the essence of fixed
    priorities: the tasks above may keep the processor.

  expect deadlock: holds
  expect assertions: holds
  expect states: 183
  expect ltl unblocked: holds
  expect ltl low_finishes: violated
  expect ltl low_finishes (weak fairness): violated

  SPDX-License-Identifier: MIT OR Apache-2.0
*/

#define LOW     0
#define MEDIUM  1
#define HIGH    2
#define NOBODY  255

mtype = { idle, ready, blocked };

mtype task[3] = idle;
byte owner = NOBODY;            /* of the mutex of the information bus */

/* the low task has inherited the high priority */
#define inherited       (owner == LOW && task[HIGH] == blocked)

#define may_run_high    (task[HIGH] == ready)
#define may_run_medium  (task[MEDIUM] == ready && task[HIGH] != ready && !inherited)
#define may_run_low     (task[LOW] == ready && (inherited || \
                         (task[HIGH] != ready && task[MEDIUM] != ready)))

/*
  The operations of the kernel.  They must be d_steps: an atomic sequence would
  lose control in the middle, as soon as an assignment to task[] or to owner
  makes the provided clause of its own process false.
*/

/* take the mutex, or block until its owner hands it over */
inline lock(me)
{
	d_step {
		if
		:: owner == NOBODY -> owner = me
		:: else -> task[me] = blocked
		fi
	};
	(owner == me)
}

/* release it; the other one, if blocked, gets it and is ready again */
inline unlock(other)
{
	d_step {
		if
		:: task[other] == blocked -> owner = other; task[other] = ready
		:: else -> owner = NOBODY
		fi
	}
}

active proctype bus_manager() provided (may_run_high)
{
	do
	:: lock(HIGH);
	   skip;                        /* use the bus */
	   unlock(LOW);
	   task[HIGH] = idle
	od
}

active proctype communications() provided (may_run_medium)
{
	do
	:: assert(task[HIGH] != blocked);
	   skip;                        /* compute */
	   task[MEDIUM] = idle
	od
}

active proctype meteorology() provided (may_run_low)
{
	do
	:: lock(LOW);
	   skip;                        /* use the bus */
	   unlock(HIGH);
	   task[LOW] = idle
	od
}

active proctype timer()
{
	do
	:: task[LOW]    == idle -> task[LOW]    = ready
	:: task[MEDIUM] == idle -> task[MEDIUM] = ready
	:: task[HIGH]   == idle -> task[HIGH]   = ready
	od
}

ltl unblocked    { [] (task[HIGH] == blocked -> <> (task[HIGH] == ready)) }
ltl low_finishes { [] (task[LOW] == ready -> <> (task[LOW] == idle)) }
