/*
  MESI cache coherence with an upgrade race.

  Source: the race is a standard pitfall of snooping protocols with a request
  queue; see D. J. Sorin, M. D. Hill and D. A. Wood, "A Primer on Memory
  Consistency and Cache Coherence", 2011, chapter 7.

  As mesi.pml, but the bus trusts an upgrade request.  Two caches that share
  the line both ask for an upgrade.  The first is served, and invalidates the
  copy of the second.  Then the second is served: it is given the line to own,
  but what it has is no longer the current data, and nobody sends it any.

  Checked:
  - the assertions: a load, or a store, finds the value of the latest store.
    Violated, as described;
  - absence of deadlock: holds.

  expect deadlock: holds
  expect assertions: violated
  expect states: 37183

  SPDX-License-Identifier: MIT OR Apache-2.0
*/

#define N  3

mtype:state = { Invalid, Shared, Exclusive, Modified };
mtype:order = { read, read_own, upgrade };

mtype:state line[N] = Invalid;
bit value[N];
bit memory;
bit latest;                             /* ghost */

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
	   request ! read(_pid);
	   grant[_pid] ? _

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

	   /* here mesi.pml asks whether an upgrade has lost its own copy */

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
