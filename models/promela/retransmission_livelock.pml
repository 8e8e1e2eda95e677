/*
  Two stations that send into the same medium and retry after a collision, with accept labels for what must not
  go on for ever.

  Each station that sees the other sending backs off and tries again.  `accept_collision` marks the back-off: a run
  that passes it again and again is a livelock, in which nobody ever gets a message through.  It exists, and it is
  fair: both stations move all the time, always at the same pace.

  expect deadlock: holds
  expect assertions: holds
  expect states: 24
  expect acceptance: violated
  expect acceptance (weak fairness): violated

  SPDX-License-Identifier: MIT OR Apache-2.0
*/

bool sending[2];

active [2] proctype station()
{
try:	sending[_pid] = true;
	if
	:: sending[1 - _pid] ->
accept_collision:
	   sending[_pid] = false;
	   goto try
	:: !sending[1 - _pid] ->        /* the message gets through */
	   sending[_pid] = false
	fi;
end:	false
}
