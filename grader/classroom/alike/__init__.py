"""Which answers of a class have more in common than one would expect: a place to look.

traits    what one answer has that another could have too     gather    the answers of a class
compare   who shares what few others have                     page      both texts, side by side
"""
