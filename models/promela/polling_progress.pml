/*
  A device that is polled, with labels that say what progress is.

  The driver polls the device until it is ready, then serves it.  The device becomes ready by itself after a while.
  Serving is marked as progress.  There is a run that makes none: the driver polls for ever and the device is never
  allowed to move.  If every process that can move does so in the end, that run is no more, but another one is: the
  cable is loose, the device goes back and forth between two states that are not ready, and both move all the time.

  expect deadlock: holds
  expect assertions: holds
  expect states: 11
  expect progress: violated
  expect progress (weak fairness): violated

  SPDX-License-Identifier: MIT OR Apache-2.0
*/

mtype = { idle, busy, ready };
mtype device_state = idle;

active proctype device()
{
	do
	:: device_state == idle -> device_state = busy
	:: device_state == busy ->
	   if
	   :: device_state = ready
	   :: device_state = idle       /* the loose cable */
	   fi
	od
}

active proctype driver()
{
	do
	:: device_state != ready -> skip
	:: device_state == ready ->
progress:	   device_state = idle
	od
}
