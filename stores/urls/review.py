"""Routes of the review queue."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, path

from stores.views import editing, review, review_action, review_bulk

urlpatterns: list[URLPattern | URLResolver] = [
    path("review/", review.review_list, name="review_list"),
    path("review/newer/", review.review_newer, name="review_newer"),
    path("review/export.<str:form>", review.review_export, name="review_export"),
    path("review/bulk/", review_bulk.review_bulk, name="review_bulk"),
    path("review/batches/<str:batch>/", review_bulk.review_batch, name="review_batch"),
    path("review/batches/<str:batch>/withdraw/", review_bulk.review_batch_withdraw, name="review_batch_withdraw"),
    path("review/<int:pk>/", review_action.action_detail, name="action_detail"),
    path("review/<int:pk>/now/", review_action.action_now, name="action_now"),
    path("review/<int:pk>/decide/", review_action.action_decide, name="action_decide"),
    path("review/<int:pk>/edit/", editing.action_edit, name="action_edit"),
    path("review/<int:pk>/comment/", review_action.action_comment, name="action_comment"),
    path("review/<int:pk>/assign/", review_action.action_assign, name="action_assign"),
    path("review/<int:pk>/snooze/", review_action.action_snooze, name="action_snooze"),
    path("review/<int:pk>/look/", review_action.action_look, name="action_look"),
]
