/*
  A row of nodes that keeps the largest numbers seen, in order.

  Source: the program "linked-list" of K. Yorav, "Exploiting Syntactic
  Structure for Automatic Verification", Technion, 2000, section 3.3.4, after
  its description there; domain and length are ours.

  Every node keeps a number.  When it gets another one from its neighbour, it
  keeps the larger and sends the smaller on.  A source feeds arbitrary numbers
  into the first node, a sink takes what leaves the last.  While a node holds
  two numbers it needs a second variable, which is dead at other times.

  Checked:
  - the assertions: a node never sends what is larger than what it keeps, and
    what it keeps never gets smaller;
  - absence of deadlock.

  expect deadlock: holds
  expect assertions: holds
  expect states: 18720

  SPDX-License-Identifier: MIT OR Apache-2.0
*/

#define N    3          /* nodes */
#define TOP  2          /* numbers 0 .. TOP-1 */

chan link[N + 1] = [0] of { byte };     /* link[i] leads to node i */

proctype node(byte i)
{
	byte kept, incoming, smaller;

	do
	:: link[i]?incoming;
	   if
	   :: incoming > kept ->
		smaller = kept;
		kept = incoming
	   :: else ->
		smaller = incoming
	   fi;
	   assert(smaller <= kept);
	   link[i + 1]!smaller
	od
}

active proctype source()
{
	byte number;

	do
	:: number = 0;
	   do
	   :: number < TOP - 1 -> number++
	   :: break
	   od;
	   link[0]!number
	od
}

active proctype sink()
{
	byte last;

	do
	:: link[N]?last
	od
}

init {
	byte i;

	atomic {
		do
		:: i < N -> run node(i); i++
		:: else -> break
		od
	}
}
