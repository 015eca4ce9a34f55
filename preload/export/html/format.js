"use strict";
/* format.js - numbers as people read them. */

const digits = new Intl.NumberFormat("en-US");

function count(number) {
	return digits.format(number);
}

function percent(part, whole) {
	return whole > 0 ? (100 * part / whole).toFixed(1) + " %" : "-";
}

function seconds(ns) {
	if (ns >= 1e9)
		return (ns / 1e9).toFixed(2) + " s";
	return ns >= 1e6 ? (ns / 1e6).toFixed(1) + " ms" : (ns / 1e3).toFixed(0) + " us";
}

/* Wilson's score interval of a share seen in so many samples, 95 %: right near 0 and 1 too. */
function interval(share, samples) {
	const z2 = 1.96 * 1.96, scale = 1 + z2 / samples;
	const middle = share + z2 / (2 * samples);
	const half = 1.96 * Math.sqrt(share * (1 - share) / samples + z2 / (4 * samples * samples));

	return [Math.max(0, (middle - half) / scale), Math.min(1, (middle + half) / scale)];
}

function intervalText(share, samples) {
	if (!(samples > 0))
		return "";
	const [low, high] = interval(share, samples);
	return `95 % in ${(100 * low).toFixed(1)}-${(100 * high).toFixed(1)}`;
}

/* Is the change of a share more than sampling twice would give? */
function isChange(before, beforeSamples, after, afterSamples) {
	if (beforeSamples === 0 || afterSamples === 0)
		return false;
	const error2 = before * (1 - before) / beforeSamples + after * (1 - after) / afterSamples;
	return Math.abs(after - before) > 1.96 * Math.sqrt(error2);
}

/* An element with text in it: names reach the page in no other way. */
function element(tag, text, className) {
	const made = document.createElement(tag);

	if (text !== undefined)
		made.textContent = text;
	if (className)
		made.className = className;
	return made;
}
