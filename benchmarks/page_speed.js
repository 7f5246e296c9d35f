// `clock.arm(event, end)` waits for the first such event (null: the navigation is the start), and
// `clock.read()` gives the seconds from its time stamp, null before the first frame that shows `end`.
window.clock = (() => {
  let began = null, ended = null, arrived = () => false;
  const hero = () => {
    for (const host of document.querySelectorAll('[data-testid=stBidiComponentRegular], div')) {
      const found = host.shadowRoot?.querySelector('.hero');
      if (found) return found;
    }
    return null;
  };
  const look = () => {
    if (ended !== null) return;
    if (began !== null && arrived()) {
      const gate = new MessageChannel();
      gate.port1.onmessage = () => { ended = performance.now(); };
      gate.port2.postMessage(0);
      return;
    }
    requestAnimationFrame(look);
  };
  const arm = (event, end) => {
    [began, ended, arrived] = [event === null ? 0 : null, null, end];
    if (event !== null) {
      const start = (it) => {
        if (event === 'keydown' && it.key !== 'Enter') return;
        window.removeEventListener(event, start, true);
        began = it.timeStamp;
      };
      window.addEventListener(event, start, true);
    }
    requestAnimationFrame(look);
  };
  const text = (node) => node?.textContent ?? '';
  const at = (epsilon) => {
    const root = hero();
    return root !== null && !root.classList.contains('stale')
      && root.dataset.epsilon === epsilon && root.dataset.measured === 'true'
      && text(root.querySelector('h1')).includes(`ε = ${epsilon}`);
  };
  const says = (title) => text(document.querySelector('h1')) === title;
  const spoken = '[data-testid=stMain] :is(p, h1, h2, h3, h4)';
  const labelled = (epsilon) => [...document.querySelectorAll(spoken)]
    .some((it) => text(it).includes(`ε = ${Number(epsilon).toFixed(2)} in total`));
  const idle = () => document.querySelector('[data-testid=stApp]')
    ?.dataset.testScriptState === 'notRunning';
  return { arm, at, labelled, says, idle, hero, text,
    read: () => ended === null ? null : (ended - began) / 1000 };
})();
