/*
  The sieve of Eratosthenes as a pipeline of processes that grows as it runs.

  Source: M. D. McIlroy's and C. A. R. Hoare's prime sieve of communicating
  processes (C. A. R. Hoare, "Communicating sequential processes", CACM 21(8),
  1978, section 6.1); G. Kahn and D. MacQueen, "Coroutines and networks of
  parallel processes", 1977.

  A generator sends 2, 3, 4, ... and then 0, the end mark.  The first number
  that a stage receives is a prime; the stage keeps it, creates the next stage,
  and passes on whatever its prime does not divide.  Each stage makes its own
  output channel and hands it to its successor as a parameter of `run`.

  Checked:
  - the assertions: what a stage keeps is a prime (by trial division), and in
    the end there are as many stages as primes;
  - absence of deadlock: the whole pipeline terminates;
  - `complete`: all primes are found, in every run.  The pipeline is
    deterministic in the sense of Kahn: the order of steps is free, the result
    is not.

  expect deadlock: holds
  expect assertions: holds
  expect states: 12680
  expect ltl complete: holds

  SPDX-License-Identifier: MIT OR Apache-2.0
*/

#define MAX     20
#define PRIMES  8               /* 2 3 5 7 11 13 17 19 */
#define END     0

byte found;                     /* primes found so far */

inline check_prime(p)
{
	d_step {
		n = 2;
		do
		:: n < p -> assert(p % n != 0); n++
		:: else -> break
		od;
		n = 0;
		found++
	}
}

proctype stage(chan left)
{
	chan right = [0] of { byte };
	byte prime, n;

	left ? prime;
	if
	:: prime == END -> goto done
	:: else
	fi;
	check_prime(prime);
	run stage(right);
	do
	:: left ? n ->
	   if
	   :: n == END -> break
	   :: n != END && n % prime == 0 -> skip        /* a multiple: drop it */
	   :: else -> right ! n
	   fi
	od;
	right ! END;
done:
	skip
}

init {
	chan numbers = [0] of { byte };
	byte i;

	run stage(numbers);
	for (i : 2 .. MAX) {
		numbers ! i
	};
	numbers ! END;

	/* all others have gone when we are the only process left */
	(_nr_pr == 1);
	assert(found == PRIMES)
}

ltl complete { <> (found == PRIMES) }
