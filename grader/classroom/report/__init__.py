"""What a class made of a lesson, from the records and the gradebook; nothing is judged here.

gather   every learner's points and verdicts    answers   what was wrong with an answer
numbers  item analysis and distribution         advice    what to do about it
page     the HTML page, from first, mistakes, times and drawing
table    a row for each learner                 lms, roster   columns for Canvas and Moodle
"""
