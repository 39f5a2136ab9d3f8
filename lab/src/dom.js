// SPDX-License-Identifier: BSD-3-Clause
// Makes elements, and nothing else does: text from users becomes text, never markup.

export const byId = (id) => document.getElementById(id);

export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "colour") element.style.setProperty("--colour", value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== undefined && child !== null));
  return element;
}

export const isDark = () => matchMedia("(prefers-color-scheme: dark)").matches;

// A palette colour that is visible on the present background: dark colours become lighter on a dark one, pale colours
// darker on a light one.
export function shownColour(colour) {
  const parts = [1, 3, 5].map((place) => parseInt(colour.slice(place, place + 2), 16));
  const luminance = (0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]) / 255;
  const towards = isDark() ? 255 : 0;
  const share = !isDark() ? (luminance > 0.7 ? 0.25 : 0) : luminance < 0.1 ? 0.62 : luminance < 0.45 ? 0.35 : 0;
  return `#${parts.map((part) => Math.round(part + (towards - part) * share).toString(16).padStart(2, "0")).join("")}`;
}

export const variable = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
