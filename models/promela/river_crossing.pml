/*
  The wolf, the goat and the cabbage: a puzzle solved by a false claim.

  Source: "Propositiones ad acuendos juvenes", attributed to Alcuin of York,
  about the year 800.

  A farmer has to take a wolf, a goat and a cabbage across a river, in a boat
  that takes one of them at a time.  Left alone, the wolf eats the goat, and the
  goat eats the cabbage.

  A model checker finds the shortest way if we claim that there is none: the
  counterexample is the solution.  The crossings are counted (up to a limit, to
  keep the model finite), so that we can ask how many are needed.

  Checked:
  - `impossible`: they never are all on the far side.  Violated, as it must be;
  - `at_least_seven`: no way is shorter than seven crossings.  It holds;
  - `not_seven`: there is no way of exactly seven.  Violated: the
    counterexample is a shortest solution;
  - absence of deadlock: the farmer can always go back.

  expect deadlock: holds
  expect assertions: holds
  expect states: 45
  expect ltl impossible: violated
  expect ltl at_least_seven: holds
  expect ltl not_seven: violated

  SPDX-License-Identifier: MIT OR Apache-2.0
*/

bit farmer, wolf, goat, cabbage;        /* 0: near side; 1: far side */
byte crossings;

/* would all be well after crossing with w, g, c on these sides? */
#define safe(f, w, g, c)  (((w) != (g) || (g) == (f)) && ((g) != (c) || (g) == (f)))

/* count up to LIMIT, and stay there */
#define LIMIT    10
#define count()  crossings = (crossings < LIMIT -> crossings + 1 : LIMIT)

#define all_across  (farmer && wolf && goat && cabbage)

active proctype crossing()
{
	do
	:: d_step {                                     /* alone */
		safe(1 - farmer, wolf, goat, cabbage) ->
		farmer = 1 - farmer;
		count()
	   }
	:: d_step {
		farmer == wolf && safe(1 - farmer, 1 - wolf, goat, cabbage) ->
		farmer = 1 - farmer;
		wolf = farmer;
		count()
	   }
	:: d_step {
		farmer == goat && safe(1 - farmer, wolf, 1 - goat, cabbage) ->
		farmer = 1 - farmer;
		goat = farmer;
		count()
	   }
	:: d_step {
		farmer == cabbage && safe(1 - farmer, wolf, goat, 1 - cabbage) ->
		farmer = 1 - farmer;
		cabbage = farmer;
		count()
	   }
	od
}

ltl impossible     { [] !all_across }
ltl at_least_seven { [] (all_across -> crossings >= 7) }
ltl not_seven      { [] (all_across -> crossings != 7) }
