// Read out when it changes, to whoever does not see the page.
export default function ({ data, parentElement }) {
  const line = parentElement.querySelector("p");
  if (line.textContent !== data.said) line.textContent = data.said;
}
