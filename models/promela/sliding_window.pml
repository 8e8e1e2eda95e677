/*
  A sliding-window protocol: both windows have length 2.

  Source: after the description of "slide" in K. Yorav, "Exploiting Syntactic
  Structure for Automatic Verification", Technion, 2000, section 3.3.4; the
  protocol itself is A. Tanenbaum's selective repeat.

  The sender may have two messages under way, with numbers modulo 4, and sends
  them again at any time.  The receiver accepts them in any order, delivers them
  in order, and acknowledges the next number it waits for.  Both directions lose
  messages.  The variables that hold an incoming message are dead between two of
  them.

  Checked:
  - the assertion: the sender does not advance its window before the receiver
    has the first message of the window;
  - absence of deadlock.

  expect deadlock: holds
  expect assertions: holds
  expect states: 314796

  SPDX-License-Identifier: MIT OR Apache-2.0
*/

#define MODULUS  4
#define next(n)  ((n + 1) % MODULUS)

chan data = [1] of { byte };
chan ack = [1] of { byte };

byte delivered;         /* ghost: how many the receiver is ahead of the sender */

active proctype sender()
{
	byte first;             /* of the window */
	byte under_way;         /* how many of the window were sent */
	byte offset, number, answer, distance;

	do
	:: under_way < 2 ->
	   number = (first + under_way) % MODULUS;
	   under_way++;
	   if
	   :: data!number
	   :: skip              /* lost */
	   fi
	:: under_way > 0 ->     /* a timer expires */
	   offset = 0;
	   if
	   :: under_way == 2 -> offset = 1
	   :: skip
	   fi;
	   number = (first + offset) % MODULUS;
	   if
	   :: data!number
	   :: skip
	   fi
	:: ack?answer ->
	   distance = (answer + MODULUS - first) % MODULUS;
	   if
	   :: distance > 0 && distance <= under_way ->
		assert(delivered >= distance);
		delivered = delivered - distance;
		first = answer;
		under_way = under_way - distance
	   :: else -> skip
	   fi
	od
}

active proctype receiver()
{
	byte expected;
	bool have[2];           /* the window: what has come early */
	byte number, distance, count;

	do
	:: data?number ->
	   distance = (number + MODULUS - expected) % MODULUS;
	   if
	   :: distance < 2 -> have[distance] = true
	   :: else -> skip      /* delivered before */
	   fi;
	   count = 0;
	   do
	   :: have[0] ->
		have[0] = have[1];
		have[1] = false;
		expected = next(expected);
		count++
	   :: else -> break
	   od;
	   delivered = delivered + count;
	   if
	   :: ack!expected
	   :: skip
	   fi
	od
}
