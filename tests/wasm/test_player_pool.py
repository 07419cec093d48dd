"""A run that never ends holds up neither the page nor what is chosen next: its worker is ended."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page

from dprl.assets import classic

# A worker that never ends a run at stop 0, and answers all others at once.
HANGS = """self.onmessage = ({ data }) => {
  if (data.stop === 0) for (;;);
  if (data.key) self.postMessage({ key: data.key });
};"""
# A pool over it, whose timers run out when the test says so.
MADE = """([source, script]) => {
  const pooled = { timers: new Map(), said: [], ended: 0 }, terminate = Worker.prototype.terminate;
  Worker.prototype.terminate = function () { pooled.ended += 1; terminate.call(this); };
  const later = (run, after) => {
    pooled.timers.set(pooled.timers.size + 1, { run, after });
    return pooled.timers.size;
  };
  const never = (number) => { if (pooled.timers.has(number)) pooled.timers.get(number).run = null; };
  const Pool = new Function("setTimeout", "clearTimeout", `${source}; return Pool`)(later, never);
  pooled.wish = (stop, seed = 0) => ({ family: 0, stop, seed, closely: false });
  pooled.pool = new Pool(script, {}, (said) => { pooled.said.push(said); pooled.heard?.(); });
  pooled.all = (stop) => Array.from({ length: 16 }, (_, seed) => pooled.wish(stop, seed));
  pooled.runOut = (after) => {
    const timers = [...pooled.timers.values()].filter((timer) => timer.run && timer.after === after);
    for (const timer of timers) { timer.run(); timer.run = null; }
  };
  pooled.until = (true_of) => new Promise((resolve) => {
    pooled.heard = () => { if (true_of()) resolve(); };
    pooled.heard();
  });
  window.pooled = pooled;
}"""
LEFT, PATIENCE = 500, 20_000  # ms, as assets/web/player_pool.js has them


@pytest.fixture
def pool(engine: Page) -> Iterator[Page]:
    assert engine.context.browser is not None
    page = engine.context.browser.new_page()
    page.evaluate(MADE, [classic("player_pool.js"), HANGS])
    yield page
    page.close()  # and with it the workers that hang


def asked(page: Page, script: str) -> Any:
    return page.evaluate(
        f"async () => {{ const {{ pool, wish, all, said, runOut, until }} = pooled; {script} }}"
    )


def test_a_new_setting_ends_workers_whose_runs_nobody_waits_for_any_more(pool: Page) -> None:
    workers = asked(pool, "pool.settled(); pool.want(all(0)); return pool.workers.length;")
    assert asked(pool, "return pool.workers.every(({ asked }) => asked.length > 0);")
    assert asked(pool, "pool.want([wish(1)]); pool.want([wish(1), wish(2)]); return pooled.ended;") == 0
    found = "return [Boolean(pool.result(wish(1)) && pool.result(wish(2))), pooled.ended, said.join('')];"
    assert asked(pool, found) == [False, 0, ""]  # the page answers, and workers hang
    asked(pool, f"runOut({LEFT}); await until(() => pool.result(wish(1)) && pool.result(wish(2)));")
    assert asked(pool, found) == [True, workers, ""]


def test_a_run_that_is_waited_for_is_given_up_and_the_next_is_played(pool: Page) -> None:
    asked(pool, "pool.settled(); pool.want([...all(0).slice(0, pool.workers.length), wish(1)]);")
    assert asked(pool, f"runOut({LEFT}); return pooled.ended;") == 0
    asked(pool, f"runOut({PATIENCE}); await until(() => pool.result(wish(1)));")
    said = set(asked(pool, "return said;"))
    assert said == {"A run could not be played: it took too long.", ""}


def test_a_run_that_is_waited_for_again_has_its_time(pool: Page) -> None:
    asked(pool, "pool.want([wish(0)]); pool.want([]); pool.want([wish(0)]);")
    assert asked(pool, f"runOut({LEFT}); return [pooled.ended, said.filter(Boolean)];") == [0, []]


def test_no_run_is_played_twice_while_a_hand_moves_on(pool: Page) -> None:
    asked(pool, "pool.settled(); for (let i = 0; i < 5; i++) pool.want(all(1));")
    asked(
        pool,
        "await until(() => pool.found.size === 16); pool.want([wish(2)]); await until(() => pool.result(wish(2)));",
    )
    assert asked(pool, "return said.length;") == 17


def test_seeds_are_played_in_turn_and_of_the_last_two_the_longest_first(engine: Page) -> None:
    order = engine.evaluate(
        """([source, seeds]) => {
          const inTurn = new Function(`${source}; return inTurn`)(), found = [];
          for (let family = 0; family < 3; family++) {
            for (let seed = 0; seed < seeds; seed++) found.push({ family, seed });
          }
          return inTurn(found, seeds, [{ seconds: 1 }, { seconds: 3 }, { seconds: 2 }])
            .map(({ family, seed }) => [family, seed]);
        }""",
        [classic("player_pool.js"), 4],
    )
    assert order[:6] == [[family, seed] for seed in (0, 1) for family in (1, 2, 0)]
    assert order[6:] == [[family, seed] for family in (1, 2, 0) for seed in (2, 3)]
    assert len(order) == 12
