/*
  Positive acknowledgement with retransmission, and an exact timeout.

  Source: protocol 3 in A. S. Tanenbaum, "Computer Networks"; the caveat is
  discussed there as well.

  The sender numbers its messages with one bit and repeats a message when no
  acknowledgement comes.  Unlike in the alternating bit protocol the
  acknowledgements carry no number: an acknowledgement means "got it", and not
  what was got.  A thief steals messages from both channels.

  The Promela expression `timeout` is true when no other statement in the whole
  system can be executed.  So here the sender's timer is never early: it goes
  off only when message or acknowledgement has really been lost.  Under this
  assumption the protocol is correct.  par_premature.pml drops it.

  Checked:
  - the assertion: messages are accepted in order, none lost, none repeated;
  - absence of deadlock: after any loss the timer goes off;
  - `no_overtaking`: there is never more than one message or acknowledgement
    under way, which is what the exact timer ensures;
  - `delivers`: new messages are accepted again and again.  Violated: the thief
    may steal everything.

  expect deadlock: holds
  expect assertions: holds
  expect states: 68
  expect ltl no_overtaking: holds
  expect ltl delivers: violated

  SPDX-License-Identifier: MIT OR Apache-2.0
*/

#define K  4                            /* messages are numbered modulo K */

chan data = [2] of { byte, bit };       /* number (for the assertion), bit */
chan acks = [2] of { bool };

bool fresh;                             /* ghost: a message is just being accepted */

active proctype sender()
{
	byte number;
	bit  b;

	do
	:: data ! number, b;
	   do
	   :: acks ? _ ->
	      d_step { number = (number + 1) % K; b = 1 - b };
	      break
	   :: timeout ->
	      data ! number, b
	   od
	od
}

active proctype receiver()
{
	byte number, wanted;
	bit  b, expected;

	do
	:: data ? number, b ->
	   if
	   :: b == expected ->
	      fresh = true;
	      assert(number == wanted);
	      d_step {
		fresh = false;
		wanted = (wanted + 1) % K;
		expected = 1 - expected
	      }
	   :: else -> skip              /* a repetition */
	   fi;
	   acks ! true
	od
}

active proctype thief()
{
	do
	:: data ? _, _
	:: acks ? _
	od
}

ltl no_overtaking { [] (len(data) + len(acks) <= 1) }
ltl delivers      { [] <> fresh }
