/*
  Priority inversion, as on Mars Pathfinder.

  Sources: L. Sha, R. Rajkumar and J. P. Lehoczky, "Priority inheritance
  protocols: an approach to real-time synchronization", IEEE Transactions on
  Computers 39(9), 1990; for the spacecraft, which kept resetting itself on
  Mars in July 1997, the accounts by M. Jones and G. Reeves.

  Three tasks share one processor under preemptive fixed priorities:

     bus manager        high      takes the mutex of the information bus
     communications     medium    computes, does not use the bus
     meteorology        low       takes the mutex as well

  The low task holds the mutex; the high task preempts it, wants the mutex, and
  blocks; before the low task can go on and release it, the medium task wakes
  up and preempts it.  So the high task waits for the medium one, which has
  nothing to do with the mutex.  On Mars a watchdog noticed that the bus
  manager had not finished in time, and reset the computer.

  The scheduler is expressed by `provided` clauses: a task takes a step only if
  it is ready and no task with a higher priority is.  Timer interrupts, which
  wake up idle tasks, may come at any time.

  Checked:
  - the assertion in the medium task: it never computes while the high task is
    blocked.  Violated: this is the inversion;
  - absence of deadlock: holds.

  pathfinder_inheritance.pml is the repair that was sent to Mars.

  expect deadlock: holds
  expect assertions: violated
  expect states: 183

  SPDX-License-Identifier: MIT OR Apache-2.0
*/

#define LOW     0
#define MEDIUM  1
#define HIGH    2
#define NOBODY  255

mtype = { idle, ready, blocked };

mtype task[3] = idle;
byte owner = NOBODY;            /* of the mutex of the information bus */

#define may_run_high    (task[HIGH] == ready)
#define may_run_medium  (task[MEDIUM] == ready && task[HIGH] != ready)
#define may_run_low     (task[LOW] == ready && task[HIGH] != ready && \
                         task[MEDIUM] != ready)

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
