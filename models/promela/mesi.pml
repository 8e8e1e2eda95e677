/*
  The MESI cache-coherence protocol on a snooping bus: three caches, one line.

  Source: M. S. Papamarcos and J. H. Patel, "A low-overhead coherence solution
  for multiprocessors with private cache memories", ISCA 1984 (also known as
  the Illinois protocol).

  A cache holds the line Modified (the only copy, memory is out of date),
  Exclusive (the only copy, memory is up to date), Shared (there may be other
  copies) or Invalid (not at all).  Hits are served locally; for anything else
  the processor sends a request, which waits in a queue for its turn on the
  bus.  A bus transaction lets every other cache snoop, one after the other:

     read       a load missed: holders go to Shared, a Modified one flushes
     read_own   a store missed: holders flush and go to Invalid
     upgrade    a store hit a Shared copy: the others go to Invalid

  While a request waits in the queue, the copy it is about may be invalidated
  by a transaction that came first.  An upgrade whose own copy has gone must
  then be treated as a read_own; mesi_upgrade_race.pml forgets to do so.

  The line holds one bit, and each store inverts it.  `latest` is a ghost: the
  value of the last store.

  Checked:
  - the assertions: every load returns the value of the latest store, and every
    store finds it;
  - absence of deadlock;
  - `coherent`: if one cache holds the line Modified or Exclusive, no other
    cache holds it at all (single writer, or many readers);
  - `loads_served`: a load of processor 0 that missed is served.  This needs
    weak fairness: otherwise another processor may hit its own cache for ever,
    and the bus never gets to move.

  expect deadlock: holds
  expect assertions: holds
  expect states: 41413
  expect ltl coherent: holds
  expect ltl loads_served: violated
  expect ltl loads_served (weak fairness): holds

  SPDX-License-Identifier: MIT OR Apache-2.0
*/

#define N  3

mtype:state = { Invalid, Shared, Exclusive, Modified };
mtype:order = { read, read_own, upgrade };

mtype:state line[N] = Invalid;
bit value[N];
bit memory;
bit latest;                             /* ghost */
bool missed[N];                         /* ghost: a load waits for the bus */

chan request = [N] of { mtype:order, byte };
chan grant[N] = [0] of { bool };         /* a handshake; the value says nothing */

/* The bus has granted the line: perform the store that waited for it.  A store
   writes one word of the line, so the rest of it must be current as well. */
inline own()
{
	atomic {
		grant[_pid] ? _;
		assert(value[_pid] == latest);
		value[_pid] = 1 - value[_pid];
		latest = value[_pid]
	}
}

active [N] proctype cpu()
{
	do
	/* load */
	:: atomic { line[_pid] != Invalid -> assert(value[_pid] == latest) }
	:: line[_pid] == Invalid ->
	   atomic { request ! read(_pid); missed[_pid] = true };
	   atomic { grant[_pid] ? _; missed[_pid] = false }

	/* store */
	:: d_step {
		line[_pid] == Exclusive || line[_pid] == Modified ->
		line[_pid] = Modified;
		value[_pid] = 1 - value[_pid];
		latest = value[_pid]
	   }
	:: line[_pid] == Shared ->
	   request ! upgrade(_pid);
	   own()
	:: line[_pid] == Invalid ->
	   request ! read_own(_pid);
	   own()

	/* eviction, to make room for some other line */
	:: d_step {
		line[_pid] != Invalid ->
		if
		:: line[_pid] == Modified -> memory = value[_pid]
		:: else
		fi;
		line[_pid] = Invalid;
		value[_pid] = 0
	   }
	od
}

active proctype bus()
{
	mtype:order what;
	byte who, i;
	bool shared;

	do
	:: request ? what(who) ->

	   /* our own copy may have gone while the request was waiting */
	   if
	   :: what == upgrade && line[who] == Invalid -> what = read_own
	   :: else
	   fi;

	   /* the other caches snoop, one at a time */
	   do
	   :: i < N ->
	      d_step {
		if
		:: i == who || line[i] == Invalid
		:: else ->
		   shared = true;
		   if
		   :: line[i] == Modified -> memory = value[i]
		   :: else
		   fi;
		   if
		   :: what == read -> line[i] = Shared
		   :: else         -> line[i] = Invalid; value[i] = 0
		   fi
		fi;
		i++
	      }
	   :: else -> break
	   od;

	   /* answer, and hand the bus on */
	   atomic {
		if
		:: what == read && shared  -> line[who] = Shared;    value[who] = memory
		:: what == read && !shared -> line[who] = Exclusive; value[who] = memory
		:: what == read_own        -> line[who] = Modified;  value[who] = memory
		:: what == upgrade         -> line[who] = Modified
		fi;
		i = 0;
		shared = false;
		what = read;
		grant[who] ! true
	   }
	od
}

#define alone(a, b, c)  ((line[a] == Modified || line[a] == Exclusive) -> \
                         (line[b] == Invalid && line[c] == Invalid))

ltl coherent     { [] (alone(0, 1, 2) && alone(1, 0, 2) && alone(2, 0, 1)) }
ltl loads_served { [] (missed[0] -> <> !missed[0]) }
