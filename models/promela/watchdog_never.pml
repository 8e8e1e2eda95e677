/*
  A watchdog, watched in turn by a never claim.

  A worker has to kick the watchdog before its counter has run down.  It does so in each round of its loop, but the
  two are not synchronised, and the watchdog may count three times while the worker does nothing: then it bites.

  The never claim is written by hand, as a small automaton: it waits until the watchdog has bitten and the
  worker is about to kick it, and accepts if the counter stays at zero for ever from then on.  Each kick sets it back,
  so no run does that.  The claim shows a choice, an accept label and a remote
  reference to a label.

  expect deadlock: holds
  expect assertions: holds
  expect states: 40
  expect never never_0: holds

  SPDX-License-Identifier: MIT OR Apache-2.0
*/

#define TIMEOUT 3

byte counter = TIMEOUT;
bool bitten;

active proctype worker()
{
	do
	:: skip;                   /* some work */
kick:	   counter = TIMEOUT
	od
}

active proctype watchdog()
{
	do
	:: counter > 0 -> atomic { counter > 0 -> counter-- }
	:: counter == 0 -> bitten = true; counter = TIMEOUT
	od
}

never {
waiting:
	do
	:: bitten && worker@kick -> break
	:: true
	od;
accept_stuck:
	do
	:: counter == 0
	od
}
