// The page of an explorer: native form elements, so that each has a label, keys and a value in words.
// What Python sends: controls (what they are), values (where they stand), and what is to be seen.

function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  // arrow keys belong to what has the focus, not to the notebook around it
  element.dataset.lmSuppressShortcuts = "true";
  return element;
}

const kinds = {
  slider(control, changed) {
    const input = make("input", { type: "range", min: 0, step: 1 });
    const said = make("output");
    const say = () => {
      said.value = control.options[input.value][1];
      input.setAttribute("aria-valuetext", said.value);
    };
    input.addEventListener("input", () => {
      say();
      changed(control.options[input.value][0]);
    });
    return {
      element: make("label", {}, control.label, " ", input, " ", said),
      fill(options, value) {
        control.options = options;
        input.max = options.length - 1;
        input.value = options.findIndex(([given]) => given === value);
        say();
      },
    };
  },

  choice(control, changed) {
    const select = make("select");
    let options = [];
    select.addEventListener("change", () => changed(options[select.selectedIndex][0]));
    return {
      element: make("label", {}, control.label, " ", select),
      fill(given, value) {
        if (JSON.stringify(given) !== JSON.stringify(options)) {
          options = given;
          select.replaceChildren(...options.map(([, word]) => make("option", {}, word)));
        }
        select.selectedIndex = options.findIndex(([each]) => each === value);
      },
    };
  },

  text(control, changed) {
    const input = make("input", { type: "text", size: 48 });
    input.addEventListener("change", () => changed(input.value));
    input.addEventListener("keydown", (event) => {
      if (event.key !== "Enter") return;
      event.stopPropagation(); // the notebook would start to edit the cell
      changed(input.value);
    });
    return {
      element: make("label", {}, control.label, " ", input),
      fill(_, value) {
        input.value = value;
      },
    };
  },

  switch(control, changed) {
    const input = make("input", { type: "checkbox" });
    input.addEventListener("change", () => changed(input.checked));
    return {
      element: make("label", {}, input, " ", control.label),
      fill(_, value) {
        input.checked = value;
      },
    };
  },

  // Words that can be dragged, and moved by buttons where nobody drags.
  order(control, changed) {
    const list = make("ol", { className: "order" });
    let order = [];
    const move = (from, to) => {
      order.splice(to, 0, ...order.splice(from, 1));
      draw();
      changed([...order]);
    };
    const button = (sign, side, word, place, to) => {
      const made = make("button", { type: "button", disabled: to < 0 || to >= order.length }, sign);
      made.setAttribute("aria-label", `move ${word} ${side}`);
      made.addEventListener("click", () => {
        move(place, to);
        const both = [...list.children[to].querySelectorAll("button")];
        const again = both[side === "left" ? 0 : 1];
        (again.disabled ? both.find((one) => !one.disabled) : again).focus();
      });
      return made;
    };
    const draw = () =>
      list.replaceChildren(
        ...order.map((token, place) => {
          const word = control.options.find(([each]) => each === token)[1];
          const item = make(
            "li",
            { draggable: true },
            button("\u25c0", "left", word, place, place - 1),
            ` ${word} `,
            button("\u25b6", "right", word, place, place + 1),
          );
          item.addEventListener("dragstart", (event) => {
            event.dataTransfer.setData("text/plain", place);
          });
          item.addEventListener("dragover", (event) => event.preventDefault());
          item.addEventListener("drop", (event) => {
            event.preventDefault();
            event.stopPropagation();
            move(Number(event.dataTransfer.getData("text/plain")), place);
          });
          return item;
        }),
      );
    const group = make("fieldset", {}, make("legend", {}, control.label), list);
    return {
      element: group,
      fill(options, value) {
        control.options = options;
        if (JSON.stringify(value) === JSON.stringify(order)) return;
        order = [...value];
        draw();
      },
    };
  },
};

function render({ model, el }) {
  const form = make("fieldset", { className: "controls" });
  form.append(make("legend", {}, model.get("title")));
  const filled = {};
  for (const control of model.get("controls")) {
    const made = kinds[control.kind]({ ...control }, (value) => {
      model.set("values", { ...model.get("values"), [control.name]: value });
      model.save_changes();
    });
    filled[control.name] = made.fill;
    form.append(made.element);
  }
  const fill = () => {
    for (const control of model.get("controls")) {
      filled[control.name](control.options, model.get("values")[control.name]);
    }
  };

  const picture = make("img");
  const status = make("p"); // stays where it is, so that what changes in it is read out
  status.setAttribute("role", "status");
  status.setAttribute("aria-live", "polite");
  const tables = make("div", { className: "jp-RenderedHTMLCommon tables" });
  const see = {
    png() {
      const before = picture.src;
      picture.src = URL.createObjectURL(new Blob([model.get("png")], { type: "image/png" }));
      if (before) URL.revokeObjectURL(before);
    },
    alt: () => (picture.alt = model.get("alt")),
    status: () => (status.textContent = model.get("status")),
    tables: () => (tables.innerHTML = model.get("tables")),
  };

  fill();
  for (const show of Object.values(see)) show();
  const follow = { controls: fill, values: fill, ...see };
  for (const [name, act] of Object.entries(follow)) model.on(`change:${name}`, act);
  const details = make("details", { open: true }, make("summary", {}, "The numbers"), tables);
  el.classList.add("explorer");
  el.append(form, picture, status, details);
  return () => {
    for (const [name, act] of Object.entries(follow)) model.off(`change:${name}`, act);
    URL.revokeObjectURL(picture.src);
  };
}

export default { render };
