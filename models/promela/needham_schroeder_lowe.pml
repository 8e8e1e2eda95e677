/*
  The Needham-Schroeder-Lowe protocol: Needham-Schroeder, repaired.

  Source: G. Lowe, "Breaking and fixing the Needham-Schroeder public-key
  protocol using FDR", TACAS 1996.

     1.  Alice -> Bob :  { Na, Alice }     encrypted for Bob
     2.  Bob -> Alice :  { Na, Nb, Bob }   encrypted for Alice
     3.  Alice -> Bob :  { Nb }            encrypted for Bob

  The only change is the name in the second message.  In Lowe's attack Alice
  believes to talk to the intruder, receives an answer that names Bob, and
  stops.  The intruder, who cannot open that answer, cannot change the name.
  See needham_schroeder.pml for the attack and for how the intruder works.

  Checked:
  - the assertion: if Bob has completed a session with Alice, then Alice was
    talking to Bob.  It holds now (for one session of each, which is the case
    that Lowe shows to be enough for this protocol);
  - `secrecy`: in that case the intruder does not know Bob's nonce either;
  - `never_completes` is a check of the model itself: Bob never completes a
    session with Alice.  Violated, as it should be: the protocol does work when
    the intruder relays the messages as they are.

  expect deadlock: holds
  expect assertions: holds
  expect states: 2457
  expect ltl secrecy: holds
  expect ltl never_completes: violated

  SPDX-License-Identifier: MIT OR Apache-2.0
*/

mtype = { alice, bob, intruder,         /* agents, and their public keys */
          Na, Nb, Ni,                   /* nonces                        */
          msg1, msg2, msg3, nothing };

/* kind of message, the key it is encrypted with, and up to three parts */
chan wire = [0] of { mtype, mtype, mtype, mtype, mtype };  /* agents to intruder */
chan net  = [0] of { mtype, mtype, mtype, mtype, mtype };  /* intruder to agents */

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
	wire ! msg1, alice_talks_to, Na, alice, nothing;
end_wait:
	net ? msg2, eval(alice), eval(Na), nonce, eval(alice_talks_to);
	wire ! msg3, alice_talks_to, nonce, nothing, nothing
}

active proctype responder()
{
	mtype partner = nothing, nonce = nothing;

end_wait1:
	net ? msg1, eval(bob), nonce, partner, _;
	wire ! msg2, partner, nonce, Nb, bob;
end_wait2:
	net ? msg3, eval(bob), eval(Nb), _, _;
	bob_talks_to = partner;
	assert(bob_talks_to != alice || alice_talks_to == bob)
}

typedef message {
	mtype kind, key, x, y, z
};

/* keep m, which is encrypted for somebody else */
inline keep(slot)
{
	slot.kind = m.kind;
	slot.key = m.key;
	slot.x = m.x;
	slot.y = m.y;
	slot.z = m.z
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
		wire ? m.kind, m.key, m.x, m.y, m.z;
		if
		:: m.key == intruder ->
		   learn(m.x);
		   learn(m.y)
		:: m.key != intruder && m.kind == msg1 -> keep(kept[0])
		:: m.key != intruder && m.kind == msg2 -> keep(kept[1])
		:: m.key != intruder && m.kind == msg3 -> keep(kept[2])
		fi;
		m.kind = 0; m.key = 0; m.x = 0; m.y = 0; m.z = 0
	   }

	   /* choose the parts of a message to compose */
	:: atomic {
		pick_nonce(n1);
		pick_nonce(n2);
		if
		:: name = alice
		:: name = bob
		:: name = intruder
		fi
	   }

	   /* send it, to whoever is waiting for one of that kind */
	:: net ! msg1, bob, n1, name, nothing
	:: net ! msg2, alice, n1, n2, name
	:: net ! msg3, bob, n1, nothing, nothing

	   /* or replay something (nobody waits for an empty one) */
	:: net ! kept[0].kind, kept[0].key, kept[0].x, kept[0].y, kept[0].z
	:: net ! kept[1].kind, kept[1].key, kept[1].x, kept[1].y, kept[1].z
	:: net ! kept[2].kind, kept[2].key, kept[2].x, kept[2].y, kept[2].z
	od
}

ltl secrecy         { [] (bob_talks_to == alice -> !knows_Nb) }
ltl never_completes { [] (bob_talks_to != alice) }
