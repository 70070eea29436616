"""Slips in what is given back."""

from grader.attention.kernels import as_they_are
from grader.attention.slips.slip import slip


@slip("", "the context alone", replaces="give")
def context_alone(context, weights, scores, v):
    """Only the context came back. The task asks for two things, so that the weights can be looked
    at. In which order should they stand?"""
    return context


@slip("", "the weights alone", replaces="give")
def weights_alone(context, weights, scores, v):
    """Only the weights came back. They say where to look; what was found there is missing. Which
    step comes after the weights?"""
    return weights


@slip("", "(weights, context)", replaces="give")
def other_order(context, weights, scores, v):
    """Both came back, but in the other order. In which order does the task name them?"""
    return weights, context


@slip("", "(context, scores)", replaces="give")
def scores_as_weights(context, weights, scores, v):
    """The context is right, but beside it came the scores, not the weights. What happens to the
    scores before they are called weights?"""
    return context, scores


@slip("mix", "({s}) {v}, beside the right weights", replaces="give")
def scores_mixed(context, weights, scores, v):
    """The weights are right, but you mixed with the scores, so the context is no average of the
    values. Which of the two has rows that add up to 1?"""
    return scores @ v, weights


@slip("", "(context, weights), cut off from the inputs", replaces="give")
def gradient_cut(context, weights, scores, v):
    """The numbers are right, but no gradient finds its way back, so nothing could be trained. Is
    there a detach(), a no_grad(), a .data or a trip to numpy on the way?

    Seen in LunaBlack/KGAT-pytorch#15, bboylyg/NAD#8, kevinzakka/recurrent-visual-attention#4.
    """
    return context.detach(), weights.detach()


@slip("", "(context, weights) in float32", replaces="give")
def turned_into_float32(context, weights, scores, v):
    """The numbers are right, but they came back in float32 although float64 went in. Which line
    names a dtype, or creates a tensor without one?"""
    return context.float(), weights.float()


@slip("scale", "{q} is divided by √d_k in place", replaces="score", scale=as_they_are)
def scaled_in_place(q, k, v):
    """The numbers are right, but your function changed its own argument on the way: whoever
    called it finds another q than before. Which line writes into a tensor instead of making a
    new one?"""
    return q.div_(k.shape[-1] ** 0.5) @ k.transpose(-2, -1)
