/*
  The dining philosophers, one of whom is left-handed.

  Source: E. W. Dijkstra, "Hierarchical ordering of sequential processes",
  Acta Informatica 1, 1971, for the problem; the remedy is the general one of
  acquiring resources in one global order.

  As philosophers_deadlock.pml, but the last philosopher takes the forks the
  other way round.  So everybody takes the fork with the lower number first,
  and a circle of philosophers each waiting for the next cannot close.

  Checked:
  - the assertion: no two neighbours eat at once;
  - absence of deadlock: holds now;
  - `someone_eats`: there is always another meal.  It holds even without
    fairness: philosophers only think, take and drop in a fixed cycle, so a
    run that goes on for ever contains meals for ever;
  - `first_eats`: philosopher 0 eats again and again.  Violated: the neighbours
    can always be faster.  Weak fairness does not help, since a fork that is
    taken from time to time does not make the wait continuously possible.

  expect deadlock: holds
  expect assertions: holds
  expect states: 4352
  expect ltl someone_eats: holds
  expect ltl first_eats: violated
  expect ltl first_eats (weak fairness): violated

  SPDX-License-Identifier: MIT OR Apache-2.0
*/

#define N  5

bool taken[N];
byte meals;         /* ghost: how many are eating now  */
bool eating[N];     /* ghost */

inline take(fork) { atomic { !taken[fork] -> taken[fork] = true } }
inline drop(fork) { taken[fork] = false }

active [N] proctype philosopher()
{
	byte first, second;

	/* the forks in ascending order */
	d_step {
		if
		:: _pid < N - 1 -> first = _pid; second = _pid + 1
		:: else         -> first = 0;    second = _pid
		fi
	};

	do
	:: take(first);
	   take(second);

	   atomic { eating[_pid] = true; meals++ };
	   assert(!eating[(_pid + 1) % N] && !eating[(_pid + N - 1) % N]);
	   atomic { eating[_pid] = false; meals-- };

	   drop(second);
	   drop(first)
	od
}

ltl someone_eats { always eventually (meals > 0) }
ltl first_eats   { always eventually eating[0] }
