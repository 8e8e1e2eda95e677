/*
  The Needham-Schroeder public-key protocol, and Lowe's attack on it.

  Sources: R. M. Needham and M. D. Schroeder, "Using encryption for
  authentication in large networks of computers", CACM 21(12), 1978;
  G. Lowe, "Breaking and fixing the Needham-Schroeder public-key protocol
  using FDR", TACAS 1996.

     1.  Alice -> Bob :  { Na, Alice } encrypted for Bob
     2.  Bob -> Alice :  { Na, Nb }    encrypted for Alice
     3.  Alice -> Bob :  { Nb }        encrypted for Bob

  The network is the intruder (after D. Dolev and A. Yao, 1983): whatever the
  two honest agents send arrives there.  The intruder is also a legitimate
  user, with a name, a key and a nonce of its own.  It opens what is encrypted
  for it, keeps the rest, may replay what it has kept, and may compose messages
  from everything it knows.  It cannot open what is encrypted for others.

  Checked: when Bob has completed a session in which he believes to talk to
  Alice, then Alice was indeed talking to Bob.  Violated, by Lowe's attack:
  Alice starts a session with the intruder, who re-encrypts her first message
  for Bob, relays Bob's answer, which it cannot read, to Alice, and gets Nb
  from her third message.  needham_schroeder_lowe.pml is the repaired protocol.

  (Deadlock is not of interest here: the intruder can always do something.)

  expect deadlock: holds
  expect assertions: violated
  expect states: 1542

  SPDX-License-Identifier: MIT OR Apache-2.0
*/

mtype = { alice, bob, intruder,         /* agents, and their public keys */
          Na, Nb, Ni,                   /* nonces                        */
          msg1, msg2, msg3, nothing };

/* kind of message, the key it is encrypted with, and two parts */
chan wire = [0] of { mtype, mtype, mtype, mtype };  /* agents to intruder */
chan net  = [0] of { mtype, mtype, mtype, mtype };  /* intruder to agents */

mtype alice_talks_to = nothing;
mtype bob_talks_to   = nothing;

bool knows_Na, knows_Nb;                /* what the intruder has learnt   */

active proctype initiator()
{
	mtype nonce = nothing;

	/* Alice may want to talk to any other user, honest or not */
	if
	:: alice_talks_to = bob
	:: alice_talks_to = intruder
	fi;
	wire ! msg1, alice_talks_to, Na, alice;
end_wait:
	net ? msg2, eval(alice), eval(Na), nonce;
	wire ! msg3, alice_talks_to, nonce, nothing
}

active proctype responder()
{
	mtype partner = nothing, nonce = nothing;

end_wait1:
	net ? msg1, eval(bob), nonce, partner;
	wire ! msg2, partner, nonce, Nb;
end_wait2:
	net ? msg3, eval(bob), eval(Nb), _;
	bob_talks_to = partner;
	assert(bob_talks_to != alice || alice_talks_to == bob)
}

typedef message {
	mtype kind, key, x, y
};

/* keep m, which is encrypted for somebody else */
inline keep(slot)
{
	slot.kind = m.kind;
	slot.key = m.key;
	slot.x = m.x;
	slot.y = m.y
}

inline learn(part)
{
	if
	:: part == Na -> knows_Na = true
	:: part == Nb -> knows_Nb = true
	:: else
	fi
}

/* choose a nonce the intruder knows */
inline pick_nonce(n)
{
	if
	:: n = Ni
	:: knows_Na -> n = Na
	:: knows_Nb -> n = Nb
	fi
}

active proctype dolev_yao()
{
	message m;                      /* being received                      */
	message kept[3];                /* one of each kind, not readable      */
	mtype n1 = Ni, n2 = Ni;         /* nonces chosen for the next message  */
	mtype name = intruder;          /* agent named in it                   */

	do
	:: atomic {
		wire ? m.kind, m.key, m.x, m.y;
		if
		:: m.key == intruder ->
		   learn(m.x);
		   learn(m.y)
		:: m.key != intruder && m.kind == msg1 -> keep(kept[0])
		:: m.key != intruder && m.kind == msg2 -> keep(kept[1])
		:: m.key != intruder && m.kind == msg3 -> keep(kept[2])
		fi;
		m.kind = 0; m.key = 0; m.x = 0; m.y = 0
	   }

	   /* choose the parts of a message to compose */
	:: atomic {
		pick_nonce(n1);
		pick_nonce(n2);
		if
		:: name = alice
		:: name = intruder
		fi
	   }

	   /* send it, to whoever is waiting for one of that kind */
	:: net ! msg1, bob, n1, name
	:: net ! msg2, alice, n1, n2
	:: net ! msg3, bob, n1, nothing

	   /* or replay something (nobody waits for an empty one) */
	:: net ! kept[0].kind, kept[0].key, kept[0].x, kept[0].y
	:: net ! kept[1].kind, kept[1].key, kept[1].x, kept[1].y
	:: net ! kept[2].kind, kept[2].key, kept[2].x, kept[2].y
	od
}
