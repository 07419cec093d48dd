"""The JavaScript of assets/web/ is what a browser can read; nothing else here would say where it is not."""

from __future__ import annotations

from playwright.sync_api import Browser

from dprl.assets import WEB, classic

SCRIPTS = sorted(path.name for path in WEB.glob("*.js"))
# A browser says of a text whether it is a program without running it.
READ = "text => { try { new Function(text); return ''; } catch (error) { return String(error); } }"


def test_every_script_is_a_program(browser: Browser) -> None:
    page = browser.new_page()
    texts = {name: f"\n{classic(name)}".replace("\nfunction (", "\nfunction named(") for name in SCRIPTS}
    wrong = {name: page.evaluate(READ, text) for name, text in texts.items()}
    assert {name: said for name, said in wrong.items() if said} == {}
    assert page.evaluate(READ, "function (") != ""
    page.close()


KEYS = """source => {
  document.body.innerHTML =
    '<div class="st-key-present_bar"><div class="st-key-present_next"><button></button></div></div>';
  let presses = 0;
  document.querySelector("button").onclick = () => { presses += 1; };
  const make = new Function(`${source}; return made;`)();
  const key = { key: "ArrowRight", bubbles: true };
  const press = () => { document.body.dispatchEvent(new KeyboardEvent("keydown", key)); };
  const first = make();
  press();
  first();
  press();  // put away, and not back yet
  const second = make();
  press();
  second();
  return new Promise((resolve) => setTimeout(() => { press(); resolve(presses); }, 2500));
}"""


def test_a_key_that_is_pressed_while_the_page_is_drawn_anew_is_not_lost(browser: Browser) -> None:
    page = browser.new_page()
    assert page.evaluate(KEYS, classic("present_keys.js").replace("\nfunction (", "\nfunction made(")) == 3
    page.close()
