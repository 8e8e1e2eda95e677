/*
  A server that creates a process for each session, and is sent channels.

  Source: the pattern of the connection-oriented server ("fork a child for each
  connection"); channels as message contents come from R. Milner, J. Parrow and
  D. Walker, "A calculus of mobile processes", 1992.  In Promela they are
  ordinary values.

  A client sends the server the end of a private channel.  The server either
  answers on it that it is busy, or creates an agent, which sends back a second
  channel, on which the session takes place.  The agent dies at the end of the
  session, and its place can be taken by a new one.

  Checked:
  - the assertions: never more than AGENTS agents; a client gets the answer to
    its own question and not to another client's;
  - absence of deadlock: when all clients have gone, the server waits for more,
    in a valid end state;
  - `bounded`: at most AGENTS agents, as a formula;
  - `all_served`: every client is served.  Violated without fairness: a client
    may ask again and again, and be told that the server is busy, while the
    agents do not get to move.  (Under weak fairness it holds, but there are
    up to seven processes, more than pan supports with its default -DNFAIR=2.)

  expect deadlock: holds
  expect assertions: holds
  expect states: 15420
  expect ltl bounded: holds
  expect ltl all_served: violated

  SPDX-License-Identifier: MIT OR Apache-2.0
*/

#define CLIENTS  3
#define AGENTS   2

mtype = { hello, busy, welcome, question, answer };

chan server_port = [0] of { mtype, chan };

byte agents;                    /* sessions going on                        */
byte served;                    /* ghost: clients that have got their answer */

proctype agent(chan reply)
{
	chan session = [0] of { mtype, byte };
	byte x;

	reply ! welcome(session);
	session ? question(x);
	session ! answer(x + 100);
	agents--
}

active proctype server()
{
	chan client;

end:	do
	:: server_port ? hello(client) ->
	   if
	   :: agents < AGENTS ->
	      agents++;
	      assert(agents <= AGENTS);
	      run agent(client)
	   :: else ->
	      client ! busy(0)
	   fi
	od
}

active [CLIENTS] proctype client()
{
	chan mine = [0] of { mtype, chan };
	chan session;
	byte x;

	do
	:: server_port ! hello(mine);
	   if
	   :: mine ? busy(_)                    /* ask again */
	   :: mine ? welcome(session) -> break
	   fi
	od;
	session ! question(_pid);
	session ? answer(x);
	assert(x == _pid + 100);
	served++
}

ltl bounded    { [] (agents <= AGENTS) }
ltl all_served { <> (served == CLIENTS) }
